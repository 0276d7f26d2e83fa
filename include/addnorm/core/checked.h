// Arithmetic on sizes that come from outside: every product, sum and rounding is checked, in one place.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>

namespace addnorm {

/// a * b, or nothing when it does not fit.
constexpr std::optional<std::size_t> checked_mul(std::size_t a, std::size_t b) {
  if (b != 0 && a > std::numeric_limits<std::size_t>::max() / b) return std::nullopt;
  return a * b;
}

/// a + b, or nothing when it does not fit.
constexpr std::optional<std::size_t> checked_add(std::size_t a, std::size_t b) {
  if (a > std::numeric_limits<std::size_t>::max() - b) return std::nullopt;
  return a + b;
}

/// a rounded up to a multiple of step (step > 0), or nothing when it does not fit.
constexpr std::optional<std::size_t> checked_round_up(std::size_t a, std::size_t step) {
  const std::size_t rest = a % step;
  return rest == 0 ? std::optional(a) : checked_add(a, step - rest);
}

}  // namespace addnorm
