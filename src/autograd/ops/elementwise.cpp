// Element by element: sum, difference and product of equals, products with what is smaller than x, dropout.
#include "kernels/elementwise/elementwise.h"

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/reduce/reduce.h"

namespace addnorm {
namespace {

Tensor product(const Tensor& a, const Tensor& b) {
  Tensor y(a.shape(), a.dtype());
  dispatch(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::multiply(a.data<T>(), b.data<T>(), y.elements(), y.data<T>());
  });
  return y;
}

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

Tensor dropped(const Tensor& x, float p, std::uint64_t key, std::uint64_t first_row) {
  const auto [rows, width] = as_rows(x.shape());
  Tensor y(x.shape(), x.dtype());
  dispatch(x.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    kernels::dropout(x.data<T>(), rows, width, p, key, first_row, y.data<T>());
  });
  return y;
}

const char* hint_for_mul(const Var& a, const Var& b) {
  const auto is_number = [](const Var& v) { return v.defined() && v.value().elements() == 1; };
  if (detail::is_row_of(b, a)) return "mul_row(a, b) multiplies every row by one";
  if (detail::is_row_of(a, b)) return "mul_row(b, a) multiplies every row by one";
  if (is_number(b)) return "mul_scalar(a, b) multiplies everything by one number";
  if (is_number(a)) return "mul_scalar(b, a) multiplies everything by one number";
  return "the shapes must be equal";
}

}  // namespace

Var add(const Var& a, const Var& b) {
  const char* hint = detail::is_row_of(b, a)   ? "add_bias(a, b) adds one row to every row"
                     : detail::is_row_of(a, b) ? "add_bias(b, a) adds one row to every row"
                                               : "the shapes must be equal";
  detail::require_alike("add", a, b, hint);

  Tensor y(a.shape(), a.dtype());
  dispatch(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::add(a.data<T>(), b.data<T>(), y.elements(), y.data<T>());
  });

  return record("add", {a, b}, std::move(y), [](const Tensor& dy, Grads& grads) {
    grads.give(0, dy);
    grads.give(1, dy);
  });
}

Var sub(const Var& a, const Var& b) {
  const char* hint =
      detail::is_row_of(b, a) ? "add_bias(a, scale(b, -1)) takes one row from every row" : "the shapes must be equal";
  detail::require_alike("sub", a, b, hint);

  Tensor y(a.shape(), a.dtype());
  dispatch(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::subtract(a.data<T>(), b.data<T>(), y.elements(), y.data<T>());
  });

  return record("sub", {a, b}, std::move(y), [](const Tensor& dy, Grads& grads) {
    grads.give(0, dy);
    if (grads.wanted(1)) grads.give(1, scaled(dy, -1));
  });
}

Var mul(const Var& a, const Var& b) {
  detail::require_alike("mul", a, b, hint_for_mul(a, b));  // defined, one shape, one dtype; else what was probably meant

  return record("mul", {a, b}, product(a.value(), b.value()), [a = a.value(), b = b.value()](const Tensor& dy, Grads& grads) {
    if (grads.wanted(0)) grads.give(0, product(dy, b));
    if (grads.wanted(1)) grads.give(1, product(dy, a));
  });
}

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

Var dropout(const Var& x, float p, RandomKey key, std::uint64_t first_row) {
  detail::require_defined("dropout", "x", x);
  require(p >= 0 && p < 1, "dropout: p is ", p, "; 0 <= p < 1 is allowed");
  if (p == 0) return x;

  return record(
      "dropout", {x}, dropped(x.value(), p, key.bits(), first_row),
      [p, key = key.bits(), first_row](const Tensor& dy, Grads& grads) { grads.give(0, dropped(dy, p, key, first_row)); });
}

}  // namespace addnorm
