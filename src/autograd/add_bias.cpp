#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/bias.h"
#include "kernels/column_sums.h"

namespace addnorm {

Var add_bias(const Var& x, const Var& bias) {
  detail::require_defined("add_bias", "x", x);
  detail::require_defined("add_bias", "bias", bias);
  const auto [rows, width] = as_rows(x.shape());
  require(bias.shape() == Shape{width}, "add_bias: bias is ", bias.shape(), ", x is ", x.shape(),
          "; bias needs the last axis of x");
  detail::require_same_dtype("add_bias", "x", x, "bias", bias);

  Tensor y(x.shape(), x.dtype());
  dispatch(x.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    kernels::add_bias(x.data<T>(), bias.data<T>(), rows, width, y.data<T>());
  });

  return record("add_bias", {x, bias}, std::move(y), [rows = rows, width = width](const Tensor& dy, Grads& grads) {
    grads.give(0, dy);
    if (!grads.wanted(1)) return;
    Tensor dbias({width}, dy.dtype()), scratch({kernels::column_sums_scratch(rows, width)}, dy.dtype());
    dispatch(dy.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::column_sums(dy.data<T>(), rows, width, width, scratch.data<T>(), dbias.data<T>());
    });
    grads.give(1, std::move(dbias));
  });
}

}  // namespace addnorm
