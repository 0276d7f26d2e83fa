// scale_norm and l2_norm: one kernel, the length of a row learned or 1.
#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/norm/l2_norm.h"

namespace addnorm {
namespace {

struct Lengths {
  Tensor y;
  Tensor norm;  // [rows], float64
};

Lengths scaled_rows(const Tensor& x, double g, double eps) {
  const auto [rows, width] = as_rows(x.shape());
  Lengths out{Tensor(x.shape(), x.dtype()), Tensor({rows}, DType::f64)};
  dispatch(x.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    kernels::l2_norm(x.data<T>(), rows, width, g, eps, out.y.data<T>(), out.norm.data<double>());
  });
  return out;
}

/// Gives dx to input 0 and dg, of shape `g_shape`, to input 1, where wanted.
void give_gradients(const Tensor& dy, const Tensor& x, const Tensor& norm, double g, double eps, bool dg_wanted,
                    const Shape& g_shape, Grads& grads) {
  const auto [rows, width] = as_rows(x.shape());
  Tensor dx = grads.wanted(0) ? Tensor(x.shape(), x.dtype()) : Tensor();
  Tensor row_dg = dg_wanted ? Tensor({rows}, DType::f64) : Tensor();
  dispatch(x.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    kernels::l2_norm_grad(dy.data<T>(), x.data<T>(), norm.data<double>(), rows, width, g, eps,
                          dx.defined() ? dx.data<T>() : nullptr, dg_wanted ? row_dg.data<double>() : nullptr);
  });
  if (dx.defined()) grads.give(0, std::move(dx));
  if (!dg_wanted) return;
  double dg = 0;
  for (const double share : row_dg.values<double>()) dg += share;
  grads.give(1, Tensor::full(g_shape, dg, x.dtype()));
}

}  // namespace

Var l2_norm(const Var& x, float eps) {
  detail::require_defined("l2_norm", "x", x);
  detail::require_eps("l2_norm", eps);
  auto [y, norm] = scaled_rows(x.value(), 1.0, static_cast<double>(eps));

  return record("l2_norm", {x}, std::move(y), [x = x.value(), norm = std::move(norm), eps](const Tensor& dy, Grads& grads) {
    give_gradients(dy, x, norm, 1.0, static_cast<double>(eps), false, Shape{}, grads);
  });
}

Var scale_norm(const Var& x, const Var& g, float eps, bool gain_is_one_plus_g) {
  detail::require_defined("scale_norm", "x", x);
  detail::require_defined("scale_norm", "g", g);
  detail::require_eps("scale_norm", eps);
  require(g.value().elements() == 1, "scale_norm: g is ", g.shape(), "; it must have one element (x is ", x.shape(), ")");
  detail::require_same_dtype("scale_norm", "x", x, "g", g);
  const double gain = g.value().item() + (gain_is_one_plus_g ? 1.0 : 0.0);
  auto [y, norm] = scaled_rows(x.value(), gain, static_cast<double>(eps));

  return record("scale_norm", {x, g}, std::move(y),
                [x = x.value(), norm = std::move(norm), g_shape = g.shape(), gain, eps](const Tensor& dy, Grads& grads) {
                  give_gradients(dy, x, norm, gain, static_cast<double>(eps), grads.wanted(1), g_shape, grads);
                });
}

}  // namespace addnorm
