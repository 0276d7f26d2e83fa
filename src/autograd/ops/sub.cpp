#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/elementwise/elementwise.h"

namespace addnorm {

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
    if (!grads.wanted(1)) return;
    Tensor db(dy.shape(), dy.dtype());
    dispatch(dy.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::scale(dy.data<T>(), T{-1}, dy.elements(), db.data<T>());
    });
    grads.give(1, std::move(db));
  });
}

}  // namespace addnorm
