// Ops that only move elements: reshape; concat and split, each the gradient of the other.
#include <vector>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/core/checked.h"
#include "autograd/axis.h"
#include "autograd/check.h"

namespace addnorm {
namespace detail {

Tensor joined(std::span<const Tensor> parts, std::span<const std::size_t> sizes, const Shape& shape, std::size_t axis,
              DType dtype) {
  const auto [outer, inner] = around(shape, axis);
  const std::size_t unit = inner * size_of(dtype);
  Tensor whole(shape, dtype);
  std::size_t begin = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Tensor part = parts[k].defined() ? parts[k] : Tensor::zeros(shape.with(axis, sizes[k]), dtype);
    copy_runs(bytes_of(part), sizes[k] * unit, bytes_of(whole) + begin * unit, shape[axis] * unit, outer, sizes[k] * unit);
    begin += sizes[k];
  }
  return whole;
}

std::vector<Tensor> parted(const Tensor& whole, std::span<const std::size_t> sizes, std::size_t axis) {
  const Shape& shape = whole.shape();
  const auto [outer, inner] = around(shape, axis);
  const std::size_t unit = inner * size_of(whole.dtype());
  std::vector<Tensor> parts;
  std::size_t begin = 0;
  for (const std::size_t size : sizes) {
    Tensor& part = parts.emplace_back(shape.with(axis, size), whole.dtype());
    copy_runs(bytes_of(whole) + begin * unit, shape[axis] * unit, bytes_of(part), size * unit, outer, size * unit);
    begin += size;
  }
  return parts;
}

}  // namespace detail

Var reshape(const Var& x, const Shape& shape) {
  detail::require_defined("reshape", "x", x);
  require(shape.elements() == x.value().elements(), "reshape: x is ", x.shape(), " and has ", x.value().elements(), " elements, ",
          shape, " has ", shape.elements());

  return record("reshape", {x}, x.value().reshape(shape),
                [before = x.shape()](const Tensor& dy, Grads& grads) { grads.give(0, dy.reshape(before)); });
}

Var concat(const std::vector<Var>& parts, std::ptrdiff_t axis) {
  require(!parts.empty(), "concat: no parts given, at least one is needed");
  for (std::size_t k = 0; k < parts.size(); ++k) require(parts[k].defined(), "concat: part ", k, " is an undefined Var");
  const Shape& first = parts[0].shape();
  const std::size_t along = detail::axis_of("concat", first, axis);
  std::vector<Tensor> values;
  std::vector<std::size_t> sizes;
  std::size_t total = 0;
  for (const Var& part : parts) {
    const bool fits = part.shape().rank() == first.rank() && part.shape().with(along, first[along]) == first;
    require(fits, "concat: part ", values.size(), " is ", part.shape(), ", part 0 is ", first, "; they may differ in axis ",
            along, " only");
    require(part.dtype() == parts[0].dtype(), "concat: part ", values.size(), " is ", part.dtype(), ", part 0 is ",
            parts[0].dtype(), detail::kConvert);
    values.push_back(part.value());
    sizes.push_back(part.shape()[along]);
    const auto sum = checked_add(total, sizes.back());
    require(sum.has_value(), "concat: axis ", along, " of the result is longer than 64 bits can count; part 0 is ", first);
    total = *sum;
  }
  Tensor y = detail::joined(values, sizes, first.with(along, total), along, parts[0].dtype());

  return record("concat", parts, std::move(y), [sizes, along](const Tensor& dy, Grads& grads) {
    std::vector<Tensor> dparts = detail::parted(dy, sizes, along);
    for (std::size_t k = 0; k < dparts.size(); ++k) grads.give(k, std::move(dparts[k]));
  });
}

std::vector<Var> split(const Var& x, const std::vector<std::size_t>& sizes, std::ptrdiff_t axis) {
  detail::require_defined("split", "x", x);
  const Shape shape = x.shape();
  const std::size_t along = detail::axis_of("split", shape, axis);
  std::size_t total = 0;
  for (const std::size_t size : sizes) {
    require(size <= shape[along] - total, "split: the sizes add up to more than axis ", along, " of x, which is ", shape);
    total += size;
  }
  require(total == shape[along], "split: the sizes add up to ", total, ", axis ", along, " of x is ", shape[along], " (x is ",
          shape, ")");

  return record("split", {x}, detail::parted(x.value(), sizes, along),
                [shape, along, dtype = x.dtype(), sizes](std::span<const Tensor> dy, Grads& grads) {
                  grads.give(0, detail::joined(dy, sizes, shape, along, dtype));
                });
}

}  // namespace addnorm
