// The arguments of the rotary kernels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace addnorm::kernels {

template <class T>
struct RotaryArgs {
  std::size_t rows = 0;
  std::size_t heads = 0;
  std::size_t d_head = 0;
  std::size_t d_rotary = 0;  ///< even, <= d_head: the first elements of each head turn, the rest is copied
  const T* x = nullptr;      ///< row r, head h starts at r * x_stride + h * d_head
  std::size_t x_stride = 0;
  const T* cos = nullptr;                   ///< [positions, d_rotary / 2]
  const T* sin = nullptr;                   ///< [positions, d_rotary / 2]
  const std::int32_t* positions = nullptr;  ///< [rows]: which row of the tables
  bool adjacent = true;                     ///< (2i, 2i + 1) turn together, as in the paper; else (i, i + d_rotary / 2)
  bool inverse = false;                     ///< turn back: the gradient of turning forth
  T* y = nullptr;                           ///< like x; may be x
  std::size_t y_stride = 0;
};

}  // namespace addnorm::kernels
