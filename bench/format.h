// Numbers as the tables show them.
#pragma once

#include <string>

#include "core/figures.h"

namespace addnorm::bench {

inline std::string duration(double seconds) {
  return seconds < 1e-3 ? fixed(seconds * 1e6, 0) + " us" : fixed(seconds * 1e3, 2) + " ms";
}

}  // namespace addnorm::bench
