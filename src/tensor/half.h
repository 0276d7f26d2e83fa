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

// And back: what came from there gives the same bits; anything else the nearest value, of two the one with an even last bit.

inline std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<std::uint16_t>(bits >> 16 | ((bits & 0x7f0000u) == 0 ? 0x40u : 0u));  // NaN stays one
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

inline std::uint16_t to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {  // NaN: its payload, or where nothing is left of it any
    const std::uint32_t payload = magnitude >> 13 & 0x3ffu;
    return static_cast<std::uint16_t>(sign | 0x7c00u | (payload == 0 ? 0x200u : payload));
  }
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65520 and above round to infinity
  if (magnitude >= 0x38800000u) {                                                   // 2^-14: normal there
    const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
    return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
  }
  // Multiples of 2^-24: the float sum rounds to one in its last bit, for 0.5 has 2^-24 there.
  const float steps = std::bit_cast<float>(magnitude) + 0.5f;
  return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(steps) - std::bit_cast<std::uint32_t>(0.5f)));
}

}  // namespace addnorm
