#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "kernels/elementwise.h"

namespace addnorm {

Var add(const Var& a, const Var& b) {
  require(a.shape() == b.shape(), "add: a is ", a.shape(), ", b is ", b.shape());
  require(a.dtype() == b.dtype(), "add: a is ", a.dtype(), ", b is ", b.dtype());

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
