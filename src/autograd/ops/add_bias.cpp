#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "autograd/ops/bias_gradient.h"
#include "kernels/elementwise/bias.h"

namespace addnorm {

Var add_bias(const Var& x, const Var& bias) {
  detail::require_defined("add_bias", "x", x);
  detail::require_defined("add_bias", "bias", bias);
  const auto [rows, width] = as_rows(x.shape());
  detail::require_vector("add_bias", "bias", bias.value(), x);

  Tensor y(x.shape(), x.dtype());
  dispatch(x.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    kernels::add_bias(x.data<T>(), bias.data<T>(), rows, width, y.data<T>());
  });

  return record("add_bias", {x, bias}, std::move(y), [](const Tensor& dy, Grads& grads) {
    grads.give(0, dy);
    if (grads.wanted(1)) grads.give(1, detail::bias_gradient(dy));
  });
}

}  // namespace addnorm
