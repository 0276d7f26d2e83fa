#include "plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace addnorm::cli {

std::string sparkline(const std::vector<double>& values, std::size_t width, double low, double high, bool unicode) {
  static constexpr std::array kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::array kDigits{"0", "1", "2", "3", "4", "5", "6", "7"};
  std::string text;
  for (std::size_t column = 0; column < width && !values.empty(); ++column) {
    const std::size_t begin = column * values.size() / width, end = std::max(begin + 1, (column + 1) * values.size() / width);
    const double v =
        *std::min_element(values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end));
    if (!(v > 0) || !std::isfinite(v)) {
      text += " ";
      continue;
    }
    const double share = (std::log10(v) - low) / std::max(1e-9, high - low);
    const auto height = static_cast<std::size_t>(std::clamp(share * 8, 0.0, 7.0));
    text += unicode ? kBlocks[height] : kDigits[height];
  }
  return text;
}

std::string short_figure(double x) {
  std::ostringstream out;
  out << std::setprecision(2) << x;
  return out.str();
}

}  // namespace addnorm::cli
