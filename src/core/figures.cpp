#include "core/figures.h"

#include <fmt/format.h>

#include <cmath>

namespace addnorm {

std::string fixed(double x, int places) { return fmt::format("{:.{}f}", x, places); }
std::string significant(double x, int digits) { return fmt::format("{:.{}g}", x, digits); }
std::string scientific(double x, int places) { return fmt::format("{:.{}e}", x, places); }

std::string short_figure(double x) { return significant(x, 2); }
std::string loss_figure(double x) { return fixed(x, 2); }

std::string figure_text(double x) {
  if (std::isnan(x)) return "nan";
  const double size = std::abs(x);
  return size >= 999.5 && size < 1e6 ? fixed(x, 0) : significant(x, 3);
}

std::string rate_figure(double x) {
  const std::string text = scientific(x, 2);  // 4.00e-04
  const std::size_t e = text.find('e');
  std::string digits = text.substr(0, e);
  while (digits.back() == '0') digits.pop_back();
  if (digits.back() == '.') digits.pop_back();
  return fmt::format("{}e{}", digits, std::stoi(text.substr(e + 1)));
}

}  // namespace addnorm
