#include "kernels/norm/dyt.h"

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"

namespace addnorm {
namespace {

/// The parameter, plus an offset; all `fallback` where there is none.
Tensor vector_or(const Var& parameter, double fallback, double offset, std::size_t width, DType dtype) {
  if (!parameter.defined()) return Tensor::full({width}, fallback, dtype);
  if (offset == 0) return parameter.value();
  Tensor shifted = parameter.value().clone();
  dispatch(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (T& value : shifted.values<T>()) value += static_cast<T>(offset);
  });
  return shifted;
}

/// One pass gives all of them; dx, or the three sums over rows, are left out when they are not wanted.
void give_gradients(const Tensor& dy, const Tensor& x, const Tensor& gain, double alpha, const Shape& alpha_shape, Grads& grads) {
  const auto [rows, width] = as_rows(x.shape());
  const bool sums_wanted = grads.wanted(1) || grads.wanted(2) || grads.wanted(3);
  Tensor dx = grads.wanted(0) ? Tensor(x.shape(), x.dtype()) : Tensor();
  Tensor sums({sums_wanted ? 3 * width : 0}, x.dtype());
  Tensor scratch({sums_wanted ? kernels::dyt_grad_scratch(rows, width) : 0}, x.dtype());
  dispatch(x.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    kernels::dyt_grad(dy.data<T>(), x.data<T>(), gain.data<T>(), static_cast<T>(alpha), rows, width, scratch.data<T>(),
                      dx.defined() ? dx.data<T>() : nullptr, sums_wanted ? sums.data<T>() : nullptr);
    const std::span<const T> columns = sums.values<T>();
    if (grads.wanted(1)) {
      double dalpha = 0;
      for (const T part : columns.last(width)) dalpha += static_cast<double>(part);
      grads.give(1, Tensor::full(alpha_shape, dalpha, x.dtype()));
    }
    if (grads.wanted(2)) grads.give(2, Tensor::of({width}, columns.first(width)));
    if (grads.wanted(3)) grads.give(3, Tensor::of({width}, columns.subspan(width, width)));
  });
  if (dx.defined()) grads.give(0, std::move(dx));
}

}  // namespace

Var dyt(const Var& x, const Var& alpha, const Var& gamma, const Var& beta, bool gain_is_one_plus_gamma) {
  detail::require_defined("dyt", "x", x);
  detail::require_defined("dyt", "alpha", alpha);
  const auto [rows, width] = as_rows(x.shape());
  require(alpha.value().elements() == 1, "dyt: alpha is ", alpha.shape(), "; it must have one element (x is ", x.shape(), ")");
  detail::require_same_dtype("dyt", "x", x, "alpha", alpha);
  detail::require_vector_or_none("dyt", "gamma", gamma, x);
  detail::require_vector_or_none("dyt", "beta", beta, x);

  Tensor y(x.shape(), x.dtype());
  const double a = alpha.value().item();
  const Tensor gain = vector_or(gamma, 1, gain_is_one_plus_gamma ? 1 : 0, width, x.dtype());
  const Tensor shift = vector_or(beta, 0, 0, width, x.dtype());
  dispatch(x.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    kernels::dyt(x.data<T>(), gain.data<T>(), shift.data<T>(), static_cast<T>(a), rows, width, y.data<T>());
  });

  return record("dyt", {x, alpha, gamma, beta}, std::move(y),
                [x = x.value(), gain, a, alpha_shape = alpha.shape()](const Tensor& dy, Grads& grads) {
                  give_gradients(dy, x, gain, a, alpha_shape, grads);
                });
}

}  // namespace addnorm
