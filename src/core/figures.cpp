#include "core/figures.h"

#include <cmath>
#include <iomanip>
#include <sstream>

namespace addnorm {

std::string short_figure(double x) {
  std::ostringstream out;
  out << std::setprecision(2) << x;
  return out.str();
}

std::string loss_figure(double x) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(2) << x;
  return out.str();
}

std::string figure_text(double x) {
  if (std::isnan(x)) return "nan";
  std::ostringstream out;
  out.precision(3);
  const double size = std::abs(x);
  if (size >= 999.5 && size < 1e6) {
    out << std::fixed;
    out.precision(0);
  }
  out << x;
  return std::move(out).str();
}

}  // namespace addnorm
