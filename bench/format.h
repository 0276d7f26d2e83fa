// Numbers as the tables show them.
#pragma once

#include <iomanip>
#include <sstream>
#include <string>

namespace addnorm::bench {

inline std::string fixed(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

inline std::string duration(double seconds) {
  return seconds < 1e-3 ? fixed(seconds * 1e6, 0) + " us" : fixed(seconds * 1e3, 2) + " ms";
}

}  // namespace addnorm::bench
