#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/elementwise.h"

namespace addnorm {

Var add(const Var& a, const Var& b) {
  detail::require_defined("add", "a", a);
  detail::require_defined("add", "b", b);
  require(a.shape() == b.shape(), "add: a is ", a.shape(), ", b is ", b.shape());
  detail::require_same_dtype("add", "a", a, "b", b);

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

}  // namespace addnorm
