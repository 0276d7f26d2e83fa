// What deviations and factors of weights must be: weights are float32 in the end.
#pragma once

#include <limits>

namespace addnorm {

/// Above 0, finite, and with all its digits as float32.
inline bool is_positive_float(double value) {
  return value >= std::numeric_limits<float>::min() && value <= std::numeric_limits<float>::max();
}
inline constexpr const char* kFloatRange = "that float32 holds: 1.2e-38 to 3.4e+38";

}  // namespace addnorm
