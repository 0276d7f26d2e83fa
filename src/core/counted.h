// Counts in readable form.
#pragma once

#include <cstdint>
#include <string>

#include "addnorm/core/error.h"

namespace addnorm {

/// "1,003,854".
inline std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

/// "1 sample", "1,003,854 tokens".
inline std::string counted(std::uint64_t number, const std::string& what) {
  return concat(grouped(number), " ", what, number == 1 ? "" : "s");
}

}  // namespace addnorm
