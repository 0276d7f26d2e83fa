// 16-bit floats to float32: exact, signs, infinities, NaN payloads and subnormals included.
#pragma once

#include <bit>
#include <cstdint>

namespace addnorm {

/// IEEE binary16: 1 sign, 5 exponent (bias 15), 10 mantissa bits.
inline float from_f16(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half & 0x8000u} << 16;
  const std::uint32_t exponent = (half >> 10) & 31u;
  const std::uint32_t mantissa = half & 0x3ffu;
  std::uint32_t magnitude = 0;
  if (exponent == 0)
    magnitude = std::bit_cast<std::uint32_t>(static_cast<float>(mantissa) * 0x1p-24f);  // no subnormal float32 is involved
  else
    magnitude = ((exponent == 31 ? 255u : exponent + 112u) << 23) | (mantissa << 13);
  return std::bit_cast<float>(sign | magnitude);
}

/// bfloat16: the upper half of a float32.
inline float from_bf16(std::uint16_t half) { return std::bit_cast<float>(std::uint32_t{half} << 16); }

}  // namespace addnorm
