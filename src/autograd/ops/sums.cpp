// Sums and means: of all elements, of runs of rows.
#include <algorithm>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/reduce/reduce.h"

namespace addnorm {
namespace {

double total(const Tensor& x) {
  Tensor scratch({kernels::reduce_scratch(x.elements())}, DType::f64);
  return dispatch(x.dtype(),
                  [&](auto zero) { return kernels::sum(x.data<decltype(zero)>(), x.elements(), scratch.data<double>()); });
}

void check_runs(const Var& x, const std::vector<std::size_t>& lengths) {
  detail::require_defined("segment_means", "x", x);
  const std::size_t rows = as_rows(x.shape()).rows;
  std::size_t left = rows;
  for (const std::size_t length : lengths) {
    require(length >= 1 && length <= left, "segment_means: a run of ", length, " rows, where ", left, " of ", rows, " are left");
    left -= length;
  }
  require(left == 0, "segment_means: the runs leave ", left, " rows of x ", x.shape(), " over; lengths must add up to them");
}

template <class T>
void means(const Tensor& x, const std::vector<std::size_t>& lengths, Tensor& y) {
  const std::size_t width = y.shape()[1];
  const std::size_t longest = *std::max_element(lengths.begin(), lengths.end());
  Tensor scratch({kernels::column_sums_scratch(longest, width)}, x.dtype());
  const T* rows = x.data<T>();
  T* mean = y.data<T>();
  for (const std::size_t length : lengths) {
    kernels::column_sums(rows, length, width, width, scratch.data<T>(), mean);
    for (std::size_t c = 0; c < width; ++c) mean[c] /= static_cast<T>(length);
    rows += length * width;
    mean += width;
  }
}

template <class T>
void spread_gradient(const Tensor& dy, const std::vector<std::size_t>& lengths, Tensor& dx) {
  const std::size_t width = dy.shape()[1];
  const T* mean = dy.data<T>();
  T* rows = dx.data<T>();
  for (const std::size_t length : lengths) {
    for (std::size_t r = 0; r < length; ++r, rows += width)
      for (std::size_t c = 0; c < width; ++c) rows[c] = mean[c] / static_cast<T>(length);
    mean += width;
  }
}

}  // namespace

Var sum(const Var& x) {
  detail::require_defined("sum", "x", x);

  return record(
      "sum", {x}, Tensor::full(Shape{}, total(x.value()), x.dtype()),
      [shape = x.shape()](const Tensor& dy, Grads& grads) { grads.give(0, Tensor::full(shape, dy.item(), dy.dtype())); });
}

Var mean(const Var& x) {
  detail::require_defined("mean", "x", x);
  require(x.value().elements() > 0, "mean: x is ", x.shape(), " and has no elements");
  const auto count = static_cast<double>(x.value().elements());

  return record("mean", {x}, Tensor::full(Shape{}, total(x.value()) / count, x.dtype()),
                [shape = x.shape(), count](const Tensor& dy, Grads& grads) {
                  grads.give(0, Tensor::full(shape, dy.item() / count, dy.dtype()));
                });
}

Var segment_means(const Var& x, const std::vector<std::size_t>& lengths) {
  check_runs(x, lengths);
  Tensor y({lengths.size(), x.shape().back()}, x.dtype());
  if (!lengths.empty()) dispatch(x.dtype(), [&](auto zero) { means<decltype(zero)>(x.value(), lengths, y); });

  return record("segment_means", {x}, std::move(y), [lengths, shape = x.shape()](const Tensor& dy, Grads& grads) {
    Tensor dx(shape, dy.dtype());
    dispatch(dy.dtype(), [&](auto zero) { spread_gradient<decltype(zero)>(dy, lengths, dx); });
    grads.give(0, std::move(dx));
  });
}

}  // namespace addnorm
