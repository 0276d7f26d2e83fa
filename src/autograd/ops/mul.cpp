#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/elementwise/elementwise.h"

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

const char* hint_for(const Var& a, const Var& b) {
  const auto is_number = [](const Var& v) { return v.defined() && v.value().elements() == 1; };
  if (detail::is_row_of(b, a)) return "mul_row(a, b) multiplies every row by one";
  if (detail::is_row_of(a, b)) return "mul_row(b, a) multiplies every row by one";
  if (is_number(b)) return "mul_scalar(a, b) multiplies everything by one number";
  if (is_number(a)) return "mul_scalar(b, a) multiplies everything by one number";
  return "the shapes must be equal";
}

}  // namespace

Var mul(const Var& a, const Var& b) {
  detail::require_alike("mul", a, b, hint_for(a, b));  // defined, one shape, one dtype; else what was probably meant

  return record("mul", {a, b}, product(a.value(), b.value()), [a = a.value(), b = b.value()](const Tensor& dy, Grads& grads) {
    if (grads.wanted(0)) grads.give(0, product(dy, b));
    if (grads.wanted(1)) grads.give(1, product(dy, a));
  });
}

}  // namespace addnorm
