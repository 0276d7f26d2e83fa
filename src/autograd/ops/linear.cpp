#include <memory>
#include <optional>
#include <utility>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "autograd/kept.h"
#include "autograd/ops/bias_gradient.h"
#include "autograd/ops/linear_activation.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/gemm/gemm.h"
#include "tensor/arena/borrow.h"

namespace addnorm {
namespace {

using Kind = std::optional<kernels::ActivationKind>;

void check(const Var& x, const Var& w, const Var& bias) {
  detail::require_defined("linear", "x", x);
  detail::require_defined("linear", "w", w);
  require(w.shape().rank() == 2, "linear: w is ", w.shape(), ", a matrix [out, in] is needed");
  require(x.shape().rank() >= 1 && x.shape().back() == w.shape()[1], "linear: x is ", x.shape(), ", w is ", w.shape(),
          ": the last axis of x must be w's second, w being [out, in]");
  detail::require_same_dtype("linear", "x", x, "w", w);
  if (!bias.defined()) return;
  require(bias.shape() == Shape{w.shape()[0]}, "linear: bias is ", bias.shape(), ", w is ", w.shape(), ": bias must be [",
          w.shape()[0], "]");
  detail::require_same_dtype("linear", "x", x, "bias", bias);
}

/// dx = dh W
Tensor input_gradient(const Tensor& dh, const Tensor& w, const Shape& shape) {
  Tensor dx(shape, dh.dtype());
  dispatch(dh.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::gemm(kernels::GemmArgs<T>{.m = as_rows(dh.shape()).rows,
                                       .n = w.shape()[1],
                                       .k = w.shape()[0],
                                       .a = dh.data<T>(),
                                       .b = w.data<T>(),
                                       .c = dx.data<T>()});
  });
  return dx;
}

/// dW = dh^T x, in memory that activations have left.
Tensor weight_gradient(const Tensor& dh, const Tensor& x, const Shape& shape) {
  const BorrowLargerBlocks borrow;
  Tensor dw(shape, dh.dtype());
  dispatch(dh.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::gemm(kernels::GemmArgs<T>{.m = shape[0],
                                       .n = shape[1],
                                       .k = as_rows(dh.shape()).rows,
                                       .a = dh.data<T>(),
                                       .transpose_a = true,
                                       .b = x.data<T>(),
                                       .c = dw.data<T>()});
  });
  return dw;
}

/// The argument of the activation, which backward keeps. If backward computes the activation again for the product after
/// it, it gets the slope at little cost and keeps it for the activation's own gradient, which comes next.
struct Hidden {
  Tensor h;
  Tensor slope{};
};

/// f(h)
Tensor activated(kernels::ActivationKind kind, Hidden& hidden) {
  const Tensor& h = hidden.h;
  Tensor y(h.shape(), h.dtype());
  hidden.slope = Tensor(h.shape(), h.dtype());
  dispatch(h.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::activate_with_slope(kind, h.data<T>(), h.elements(), y.data<T>(), hidden.slope.data<T>());
  });
  return y;
}

/// dh = dy * f'(h)
Tensor activation_gradient(kernels::ActivationKind kind, const Tensor& dy, Hidden& hidden) {
  const Tensor slope = std::exchange(hidden.slope, Tensor());
  Tensor dh = slope.defined() ? slope : Tensor(dy.shape(), dy.dtype());
  dispatch(dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (slope.defined())
      kernels::multiply(dy.data<T>(), slope.data<T>(), dh.elements(), dh.data<T>());
    else
      kernels::activate_grad(kind, dy.data<T>(), hidden.h.data<T>(), dh.elements(), dh.data<T>());
  });
  return dh;
}

}  // namespace

Var linear(const Var& x, const Var& w, const Var& bias, LinearActivation activation) {
  check(x, w, bias);
  const Kind kind = detail::kernel_activation(activation);
  const std::size_t rows = as_rows(x.shape()).rows, out = w.shape()[0], in = w.shape()[1];

  Tensor y(x.shape().with(x.shape().rank() - 1, out), x.dtype()), h;
  const bool keeps_h = kind && grad_enabled() && (x.requires_grad() || w.requires_grad() || bias.requires_grad());
  if (keeps_h) h = Tensor(y.shape(), y.dtype());
  dispatch(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::gemm(kernels::GemmArgs<T>{.m = rows,
                                       .n = out,
                                       .k = in,
                                       .a = x.data<T>(),
                                       .b = w.data<T>(),
                                       .transpose_b = true,
                                       .bias = bias.defined() ? bias.data<T>() : nullptr,
                                       .activation = kind,
                                       .pre = keeps_h ? h.data<T>() : nullptr,
                                       .c = y.data<T>()});
  });

  const auto hidden = keeps_h ? std::make_shared<Hidden>(Hidden{h}) : nullptr;
  const Var result = record("linear", {x, w, bias}, std::move(y),
                            [x = detail::Kept(x), w = w.value(), hidden, kind](const Tensor& dy, Grads& grads) {
                              const Tensor dh = kind ? activation_gradient(*kind, dy, *hidden) : dy;
                              // First what may compute x again: it is gone before dx is made.
                              if (grads.wanted(1)) grads.give(1, weight_gradient(dh, x.tensor(), w.shape()));
                              if (grads.wanted(0)) grads.give(0, input_gradient(dh, w, x.shape()));
                              if (grads.wanted(2)) grads.give(2, detail::bias_gradient(dh));
                            });
  if (keeps_h) detail::computed_again_by(result, [hidden, kind] { return activated(*kind, *hidden); });
  return result;
}

}  // namespace addnorm
