#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/elementwise/elementwise.h"

namespace addnorm {

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

}  // namespace addnorm
