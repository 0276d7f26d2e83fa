#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/core/parallel.h"
#include "autograd/check.h"
#include "kernels/reference/norms.h"

namespace addnorm {
namespace {

constexpr std::size_t kRmsBlock = 32768;  // elements

/// x / rms of its first features, without gain.
Var divided(const Var& x, std::size_t measured, double eps, bool inside) {
  const auto [rows, width] = as_rows(x.shape());
  Tensor y(x.shape(), x.dtype());
  Tensor root({rows}, DType::f64);
  dispatch(x.dtype(), [&, width = width, rows = rows](auto zero) {
    using T = decltype(zero);
    const T* in = x.value().data<T>();
    T* out = y.data<T>();
    double* roots = root.data<double>();
    parallel_ranges(rows, rows_per_block(width, kRmsBlock), [=](std::size_t begin, std::size_t end) {
      kernels::reference::partial_rms(in + begin * width, end - begin, width, measured, eps, inside, out + begin * width,
                                      roots + begin);
    });
  });
  return record("partial_rms_norm", {x}, std::move(y),
                [x = x.value(), root, measured, eps, inside, rows = rows, width = width](const Tensor& dy, Grads& grads) {
                  Tensor dx(x.shape(), x.dtype());
                  dispatch(x.dtype(), [&](auto zero) {
                    using T = decltype(zero);
                    const T *up = dy.data<T>(), *in = x.data<T>();
                    const double* roots = root.data<double>();
                    T* out = dx.data<T>();
                    parallel_ranges(rows, rows_per_block(width, kRmsBlock), [=](std::size_t begin, std::size_t end) {
                      kernels::reference::partial_rms_grad(up + begin * width, in + begin * width, roots + begin, end - begin,
                                                           width, measured, eps, inside, out + begin * width);
                    });
                  });
                  grads.give(0, std::move(dx));
                });
}

}  // namespace

Var partial_rms_norm(const Var& x, const Var& gamma, std::size_t measured, const NormOptions& options) {
  detail::require_defined("partial_rms_norm", "x", x);
  detail::require_eps("partial_rms_norm", options.eps);
  detail::require_vector_or_none("partial_rms_norm", "gamma", gamma, x);
  const std::size_t width = as_rows(x.shape()).width;
  require(measured > 0 && measured <= width, "partial_rms_norm: measured is ", measured, ", x is ", x.shape(), "; 1 ... ", width,
          " features can be measured");
  const Var y = divided(x, measured, static_cast<double>(options.eps), options.eps_place == EpsPlace::inside_root);
  if (!gamma.defined()) return y;
  const Var scaled = mul_row(y, gamma);
  return options.gain_is_one_plus_gamma ? add(y, scaled) : scaled;
}

}  // namespace addnorm
