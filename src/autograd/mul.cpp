#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/elementwise.h"

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

}  // namespace

Var mul(const Var& a, const Var& b) {
  detail::require_defined("mul", "a", a);
  detail::require_defined("mul", "b", b);
  require(a.shape() == b.shape(), "mul: a is ", a.shape(), ", b is ", b.shape());
  detail::require_same_dtype("mul", "a", a, "b", b);

  return record("mul", {a, b}, product(a.value(), b.value()), [a = a.value(), b = b.value()](const Tensor& dy, Grads& grads) {
    if (grads.wanted(0)) grads.give(0, product(dy, b));
    if (grads.wanted(1)) grads.give(1, product(dy, a));
  });
}

}  // namespace addnorm
