// Numbers in sentences.
#pragma once

#include <iomanip>
#include <sstream>
#include <string>

namespace addnorm {

/// Two figures that matter: "0.003", "14", "4.1e+05".
inline std::string short_figure(double x) {
  std::ostringstream out;
  out << std::setprecision(2) << x;
  return out.str();
}

/// Two places: "2.43".
inline std::string loss_figure(double x) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(2) << x;
  return out.str();
}

}  // namespace addnorm
