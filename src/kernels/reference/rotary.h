// Specification of the rotary position embedding.
#pragma once

#include <cmath>

#include "kernels/attention/rotary_args.h"

namespace addnorm::kernels::reference {

/// Each pair (a, b) of a head becomes (a cos - b sin, a sin + b cos), the angle given by position and pair.
template <class T>
void rotary(const RotaryArgs<T>& args) {
  const std::size_t half = args.d_rotary / 2;
  for (std::size_t r = 0; r < args.rows; ++r) {
    const std::size_t at = static_cast<std::size_t>(args.positions[r]) * half;
    for (std::size_t h = 0; h < args.heads; ++h) {
      const T* x = args.x + r * args.x_stride + h * args.d_head;
      T* y = args.y + r * args.y_stride + h * args.d_head;
      for (std::size_t i = 0; i < half; ++i) {
        const std::size_t first = args.adjacent ? 2 * i : i, second = args.adjacent ? 2 * i + 1 : i + half;
        const T cos = args.cos[at + i], sin = args.inverse ? -args.sin[at + i] : args.sin[at + i];
        const T a = x[first], b = x[second];
        y[first] = a * cos - b * sin;
        y[second] = a * sin + b * cos;
      }
      for (std::size_t c = args.d_rotary; c < args.d_head; ++c) y[c] = x[c];
    }
  }
}

/// cos and sin of position * base^(-2 i / d_rotary), computed in double: [positions, d_rotary / 2] each.
template <class T>
void rotary_tables(std::size_t positions, std::size_t d_rotary, double base, T* cos, T* sin) {
  const std::size_t half = d_rotary / 2;
  for (std::size_t p = 0; p < positions; ++p) {
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(p) * std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(d_rotary));
      cos[p * half + i] = static_cast<T>(std::cos(angle));
      sin[p * half + i] = static_cast<T>(std::sin(angle));
    }
  }
}

}  // namespace addnorm::kernels::reference
