// Arithmetic on sizes that come from outside: every product, sum, rounding and conversion is checked, in one place.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace addnorm {

/// a * b, or nothing when it does not fit. Computed in the type of a.
template <std::unsigned_integral Size>
constexpr std::optional<Size> checked_mul(Size a, std::type_identity_t<Size> b) {
  if (b != 0 && a > std::numeric_limits<Size>::max() / b) return std::nullopt;
  return static_cast<Size>(a * b);
}

/// a + b, or nothing when it does not fit. Computed in the type of a.
template <std::unsigned_integral Size>
constexpr std::optional<Size> checked_add(Size a, std::type_identity_t<Size> b) {
  if (a > std::numeric_limits<Size>::max() - b) return std::nullopt;
  return static_cast<Size>(a + b);
}

/// a rounded up to a multiple of step (step > 0), or nothing when it does not fit.
constexpr std::optional<std::size_t> checked_round_up(std::size_t a, std::size_t step) {
  const std::size_t rest = a % step;
  return rest == 0 ? std::optional(a) : checked_add(a, step - rest);
}

/// What a file or a network says is a size, or nothing where memory cannot have that many: sizes outside have 64 bits on every
/// platform, a size_t may have 32.
template <std::unsigned_integral Size = std::size_t>
constexpr std::optional<Size> checked_size(std::uint64_t outside) {
  if (outside > std::numeric_limits<Size>::max()) return std::nullopt;
  return static_cast<Size>(outside);
}

}  // namespace addnorm
