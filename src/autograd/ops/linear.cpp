// Products with a matrix: matmul, linear, the same with a packed weight and without a graph; and the bias that is added.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "autograd/graph.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/packed.h"
#include "kernels/reduce/reduce.h"
#include "tensor/arena/scope.h"

namespace addnorm {
namespace {

/// dbias [width] = sum of dy [..., width] over rows.
Tensor bias_gradient(const Tensor& dy) {
  const auto [rows, width] = as_rows(dy.shape());
  Tensor dbias({width}, dy.dtype()), scratch({kernels::column_sums_scratch(rows, width)}, dy.dtype());
  dispatch(dy.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    kernels::column_sums(dy.data<T>(), rows, width, width, scratch.data<T>(), dbias.data<T>());
  });
  return dbias;
}

}  // namespace

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
    if (grads.wanted(1)) grads.give(1, bias_gradient(dy));
  });
}

Var matmul(const Var& a, const Var& b) {
  detail::require_defined("matmul", "a", a);
  detail::require_defined("matmul", "b", b);
  require(a.shape().rank() >= 1, "matmul: a is ", a.shape(), ", at least one axis is needed");
  require(b.shape().rank() == 2, "matmul: b is ", b.shape(), ", a matrix [k, n] is needed");
  require(a.shape().back() == b.shape()[0], "matmul: a is ", a.shape(), ", b is ", b.shape(),
          ": the last axis of a and the first of b must agree");
  detail::require_same_dtype("matmul", "a", a, "b", b);
  const std::size_t k = b.shape()[0], n = b.shape()[1];
  const std::size_t rows = as_rows(a.shape()).rows;

  Tensor y(a.shape().with(a.shape().rank() - 1, n), a.dtype());
  dispatch(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::gemm(kernels::GemmArgs<T>{.m = rows, .n = n, .k = k, .a = a.data<T>(), .b = b.data<T>(), .c = y.data<T>()});
  });

  return record("matmul", {a, b}, std::move(y), [a = a.value(), b = b.value(), rows, n, k](const Tensor& dy, Grads& grads) {
    dispatch(dy.dtype(), [&](auto zero) {
      using T = decltype(zero);
      if (grads.wanted(0)) {
        Tensor da(a.shape(), a.dtype());
        kernels::gemm(kernels::GemmArgs<T>{
            .m = rows, .n = k, .k = n, .a = dy.data<T>(), .b = b.data<T>(), .transpose_b = true, .c = da.data<T>()});
        grads.give(0, std::move(da));
      }
      if (grads.wanted(1)) {
        Tensor db(b.shape(), b.dtype());
        kernels::gemm(kernels::GemmArgs<T>{
            .m = k, .n = n, .k = rows, .a = a.data<T>(), .transpose_a = true, .b = dy.data<T>(), .c = db.data<T>()});
        grads.give(1, std::move(db));
      }
    });
  });
}

namespace {

/// The kernel's name of what linear applies to its sum; empty: nothing.
using Kind = std::optional<kernels::ActivationKind>;

Kind kernel_activation(LinearActivation activation) {
  require_one_of("linear", "activation", activation, "LinearActivation", {"none", "relu", "gelu", "gelu_tanh", "silu"});
  switch (activation) {
    case LinearActivation::none:
      return {};
    case LinearActivation::relu:
      return kernels::ActivationKind::relu;
    case LinearActivation::gelu:
      return kernels::ActivationKind::gelu;
    case LinearActivation::gelu_tanh:
      return kernels::ActivationKind::gelu_tanh;
    case LinearActivation::silu:
      return kernels::ActivationKind::silu;
  }
  return {};
}

void check_linear(const Var& x, const Var& w, const Var& bias) {
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
  check_linear(x, w, bias);
  const Kind kind = kernel_activation(activation);
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
                              if (grads.wanted(2)) grads.give(2, bias_gradient(dh));
                            });
  if (keeps_h) detail::computed_again_by(result, [hidden, kind] { return activated(*kind, *hidden); });
  return result;
}

PackedWeight::PackedWeight(Tensor w) {
  require(w.defined() && w.shape().rank() == 2 && w.dtype() == DType::f32, "PackedWeight: w is ",
          w.defined() ? w.shape().text() : "undefined", "; a float32 matrix [out, in] is needed");
  out_ = w.shape()[0];
  in_ = w.shape()[1];
  const std::size_t columns = kernels::panel_columns();
  if (!w.unique() || out_ % columns != 0) {
    panels_ = Tensor({kernels::packed_elements(out_, in_)});
    kernels::pack_weight(w.data<float>(), out_, in_, panels_.data<float>());
    return;
  }
  // A panel takes exactly the place of its rows.
  Tensor rows({columns, in_});
  float* data = w.data<float>();
  for (std::size_t j = 0; j < out_; j += columns, data += rows.elements()) {
    std::copy_n(data, rows.elements(), rows.data<float>());
    kernels::pack_weight(rows.data<float>(), columns, in_, data);
  }
  panels_ = std::move(w);
}

Tensor packed_linear(const Tensor& x, const PackedWeight& w, const Tensor& bias, LinearActivation activation) {
  require(w.defined(), "packed_linear: the weight is undefined");
  require(x.defined() && x.dtype() == DType::f32 && x.shape().rank() >= 1 && x.shape().back() == w.in(), "packed_linear: x is ",
          x.defined() ? x.shape().text() : "undefined", ", w is ", Shape{w.out(), w.in()},
          ": x must be float32, and its last axis w's second");
  require(!bias.defined() || (bias.shape() == Shape{w.out()} && bias.dtype() == DType::f32), "packed_linear: bias is ",
          bias.defined() ? bias.shape().text() : "undefined", "; float32 [", w.out(), "] is needed");
  Tensor y(x.shape().with(x.shape().rank() - 1, w.out()));
  kernels::gemm_packed({.m = as_rows(x.shape()).rows,
                        .n = w.out(),
                        .k = w.in(),
                        .a = x.data<float>(),
                        .packed = w.panels_.data<float>(),
                        .bias = bias.defined() ? bias.data<float>() : nullptr,
                        .activation = kernel_activation(activation),
                        .c = y.data<float>()});
  return y;
}

}  // namespace addnorm
