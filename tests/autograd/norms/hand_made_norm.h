// A layer norm whose gradient can be made wrong on purpose: the negative control of gradient checks.
#pragma once

#include <cmath>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"

namespace addnorm::test {

/// layer_norm without gain and bias: dx = rstd * (g - mean(g) - xhat * mean(g * xhat)), each mean optional. float64.
inline Var hand_made_norm(const Var& x, bool mean_term, bool projection_term) {
  const auto [rows, n] = as_rows(x.shape());
  Tensor xhat, rstd({rows}, DType::f64);
  {
    const NoGrad no_grad;
    xhat = layer_norm(x, Var(), Var()).value();
  }
  const auto xs = x.value().values<double>();
  for (std::size_t r = 0; r < rows; ++r) {
    std::size_t far = r * n;  // any element well off the mean gives rstd = (xhat_i - xhat_j) / (x_i - x_j)
    for (std::size_t i = r * n; i < r * n + n; ++i)
      if (std::abs(xs[i] - xs[r * n]) > std::abs(xs[far] - xs[r * n])) far = i;
    rstd.values<double>()[r] = (xhat.values<double>()[far] - xhat.values<double>()[r * n]) / (xs[far] - xs[r * n]);
  }
  return record("hand_made_norm", {x}, xhat, [=, rows = rows, n = n](const Tensor& dy, Grads& grads) {
    Tensor dx(dy.shape(), DType::f64);
    const auto g = dy.values<double>(), h = xhat.values<double>();
    for (std::size_t r = 0; r < rows; ++r) {
      double mean_g = 0, mean_gh = 0;
      for (std::size_t i = r * n; i < r * n + n; ++i) {
        mean_g += mean_term ? g[i] / static_cast<double>(n) : 0.0;
        mean_gh += projection_term ? g[i] * h[i] / static_cast<double>(n) : 0.0;
      }
      for (std::size_t i = r * n; i < r * n + n; ++i)
        dx.values<double>()[i] = rstd.values<double>()[r] * (g[i] - mean_g - h[i] * mean_gh);
    }
    grads.give(0, dx);
  });
}

/// x itself; the gradient is multiplied by `factor`.
inline Var with_gradient_times(const Var& x, double factor) {
  return record("with_gradient_times", {x}, x.value(), [factor](const Tensor& dy, Grads& grads) {
    Tensor dx = dy.clone();
    for (double& d : dx.values<double>()) d *= factor;
    grads.give(0, dx);
  });
}

}  // namespace addnorm::test
