// Products with what is smaller than x: a constant, a learned scalar, one row.
#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/reduce/reduce.h"

namespace addnorm {
namespace {

Tensor scaled(const Tensor& x, double factor) {
  Tensor y(x.shape(), x.dtype());
  dispatch(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::scale(x.data<T>(), static_cast<T>(factor), x.elements(), y.data<T>());
  });
  return y;
}

Tensor times_row(const Tensor& x, const Tensor& v) {
  const auto [rows, width] = as_rows(x.shape());
  Tensor y(x.shape(), x.dtype());
  dispatch(x.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    kernels::multiply_rows(x.data<T>(), v.data<T>(), rows, width, y.data<T>());
  });
  return y;
}

double inner_product(const Tensor& a, const Tensor& b) {
  Tensor scratch({kernels::reduce_scratch(a.elements())}, DType::f64);
  return dispatch(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return kernels::dot(a.data<T>(), b.data<T>(), a.elements(), scratch.data<double>());
  });
}

Tensor column_products(const Tensor& a, const Tensor& b) {
  const auto [rows, width] = as_rows(a.shape());
  Tensor dots({width}, DType::f64), scratch({kernels::column_dots_scratch(rows, width)}, DType::f64);
  dispatch(a.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    kernels::column_dots(a.data<T>(), b.data<T>(), rows, width, scratch.data<double>(), dots.data<double>());
  });
  return dots.to(a.dtype());
}

}  // namespace

Var scale(const Var& x, double factor) {
  detail::require_defined("scale", "x", x);
  detail::require_finite_in(x.dtype(), "scale", "factor", factor);

  return record("scale", {x}, scaled(x.value(), factor),
                [factor](const Tensor& dy, Grads& grads) { grads.give(0, scaled(dy, factor)); });
}

Var mul_scalar(const Var& x, const Var& s) {
  detail::require_defined("mul_scalar", "x", x);
  detail::require_defined("mul_scalar", "s", s);
  require(s.value().elements() == 1, "mul_scalar: s is ", s.shape(), "; it must have one element (x is ", x.shape(), ")");
  detail::require_same_dtype("mul_scalar", "x", x, "s", s);
  const double factor = s.value().item();

  return record("mul_scalar", {x, s}, scaled(x.value(), factor),
                [x = x.value(), s_shape = s.shape(), factor](const Tensor& dy, Grads& grads) {
                  if (grads.wanted(0)) grads.give(0, scaled(dy, factor));
                  if (grads.wanted(1)) grads.give(1, Tensor::full(s_shape, inner_product(dy, x), dy.dtype()));
                });
}

Var mul_row(const Var& x, const Var& v) {
  detail::require_defined("mul_row", "x", x);
  detail::require_defined("mul_row", "v", v);
  detail::require_vector("mul_row", "v", v.value(), x);

  return record("mul_row", {x, v}, times_row(x.value(), v.value()),
                [x = x.value(), v = v.value()](const Tensor& dy, Grads& grads) {
                  if (grads.wanted(0)) grads.give(0, times_row(dy, v));
                  if (grads.wanted(1)) grads.give(1, column_products(dy, x));
                });
}

}  // namespace addnorm
