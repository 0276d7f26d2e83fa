// Between the layouts of ONNX and ours: any axis may be the one that is normalised, heads may stand before time.
#pragma once

#include "addnorm/tensor/tensor.h"

namespace addnorm::test::onnx {

inline std::size_t axis_of(const Shape& shape, std::ptrdiff_t axis) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::ptrdiff_t>(shape.rank()) : axis);
}

inline std::size_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  std::size_t total = 1;
  for (std::size_t i = begin; i < end; ++i) total *= shape[i];
  return total;
}

/// [a, b, c, d] -> [a, c, b, d].
inline Tensor swap_middle(const Tensor& x, std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
  Tensor y({a, c, b, d});
  const float* from = x.data<float>();
  for (std::size_t i = 0; i < a; ++i)
    for (std::size_t j = 0; j < b; ++j)
      for (std::size_t k = 0; k < c; ++k)
        for (std::size_t l = 0; l < d; ++l) y.data<float>()[((i * c + k) * b + j) * d + l] = from[((i * b + j) * c + k) * d + l];
  return y;
}

/// x as [rows, size of the axis]: the axis moved to the end.
inline Tensor axis_last(const Tensor& x, std::ptrdiff_t axis) {
  const std::size_t at = axis_of(x.shape(), axis), n = x.shape()[at];
  const std::size_t outer = product(x.shape(), 0, at), inner = product(x.shape(), at + 1, x.shape().rank());
  return swap_middle(x, outer, n, inner, 1).reshape({outer * inner, n});
}

/// The inverse: y = f(axis_last(x, axis)) back in the shape of x.
inline Tensor axis_back(const Tensor& y, const Shape& shape, std::ptrdiff_t axis) {
  const std::size_t at = axis_of(shape, axis);
  return swap_middle(y, product(shape, 0, at), product(shape, at + 1, shape.rank()), shape[at], 1).reshape(shape);
}

/// [B, H, T, D] -> [B, T, H * D], and back.
inline Tensor heads_inside(const Tensor& x) {
  const Shape& s = x.shape();
  return swap_middle(x, s[0], s[1], s[2], s[3]).reshape({s[0], s[2], s[1] * s[3]});
}
inline Tensor heads_outside(const Tensor& x, std::size_t heads) {
  const Shape& s = x.shape();
  return swap_middle(x, s[0], s[1], heads, s[2] / heads);
}

}  // namespace addnorm::test::onnx
