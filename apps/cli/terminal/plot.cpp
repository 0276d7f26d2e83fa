#include "cli/terminal/plot.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace addnorm::cli {

const char* block(double share, bool unicode) {
  static constexpr std::array kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::array kLetters{"_", ".", ",", "-", "=", "+", "*", "#"};
  const double height = std::isfinite(share) ? std::clamp(std::floor(share * 8), 0.0, 7.0) : 7.0;
  return (unicode ? kBlocks : kLetters)[static_cast<std::size_t>(height)];
}

std::string sparkline(const std::vector<double>& values, std::size_t width, double low, double high, bool unicode) {
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
    text += block(share, unicode);
  }
  return text;
}

}  // namespace addnorm::cli
