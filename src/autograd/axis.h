// Axes of a shape as callers name them, and copies between arrays that differ along one axis. Internal to autograd.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/core/parallel.h"
#include "addnorm/tensor/tensor.h"

namespace addnorm::detail {

/// 0 .. rank-1 from the front, or -1 .. -rank from the back.
inline std::size_t axis_of(const char* op, const Shape& shape, std::ptrdiff_t axis) {
  const auto rank = static_cast<std::ptrdiff_t>(shape.rank());
  require(axis >= -rank && axis < rank, op, ": axis ", axis, " given, the shape is ", shape, ": allowed is ", -rank, " to ",
          rank - 1);
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

/// A shape seen from one axis: [outer, axis, inner].
struct AxisView {
  std::size_t outer = 1;
  std::size_t inner = 1;
};
inline AxisView around(const Shape& shape, std::size_t axis) {
  AxisView view;
  for (std::size_t i = 0; i < axis; ++i) view.outer *= shape[i];
  for (std::size_t i = axis + 1; i < shape.rank(); ++i) view.inner *= shape[i];
  return view;
}

/// `outer` runs of `bytes` bytes, each a stride further in both arrays.
inline void copy_runs(const std::byte* from, std::size_t from_stride, std::byte* to, std::size_t to_stride, std::size_t outer,
                      std::size_t bytes) {
  if (bytes == 0) return;
  constexpr std::size_t kBlockBytes = 131072;
  const std::size_t runs = bytes >= kBlockBytes ? 1 : kBlockBytes / bytes;
  parallel_ranges(outer, runs, [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, bytes);
  });
}

/// Where the memory of a tensor begins, whatever its dtype.
inline std::byte* bytes_of(Tensor& t) {
  return dispatch(t.dtype(), [&](auto zero) { return reinterpret_cast<std::byte*>(t.data<decltype(zero)>()); });
}
inline const std::byte* bytes_of(const Tensor& t) {
  return dispatch(t.dtype(), [&](auto zero) { return reinterpret_cast<const std::byte*>(t.data<decltype(zero)>()); });
}

/// The parts one after the other along an axis; an undefined part stands for zeros of its size.
Tensor joined(std::span<const Tensor> parts, std::span<const std::size_t> sizes, const Shape& shape, std::size_t axis,
              DType dtype);
/// The inverse: sizes add up to the axis.
std::vector<Tensor> parted(const Tensor& whole, std::span<const std::size_t> sizes, std::size_t axis);

}  // namespace addnorm::detail
