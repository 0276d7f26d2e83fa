// Specification of the optimizer updates: the formulas of torch.optim.
#pragma once

#include <cmath>
#include <cstddef>

#include "kernels/optimizer/args.h"

namespace addnorm::kernels::reference {

/// What of Adam's settings depends on the step alone. With c1 = 1 - beta1^t, c2 = 1 - beta2^t:
///
///   Adam, AdamW   p -= lr / c1 * m / (sqrt(v) / sqrt(c2) + eps)
///   RAdam         rho_inf = 2 / (1 - beta2) - 1,  rho = rho_inf - 2 t beta2^t / c2
///     rho > 5     p -= lr r / c1 * m / ((sqrt(v) + eps) / sqrt(c2)),
///                 r^2 = (rho - 4) (rho - 2) rho_inf / ((rho_inf - 4) (rho_inf - 2) rho)
///     else        p -= lr / c1 * m
///
/// The paper adapts from rho > 4 on; 5 is what its authors' code and PyTorch have.
struct AdamFactors {
  double scale, shrink, decay;  // scale: of g; shrink: share of p taken off; decay: share of p that joins g
  double gain1, gain2;
  double step_size, root_scale, eps;  // p -= step_size * m / (root_scale * sqrt(v) + eps)

  explicit AdamFactors(const AdamSettings& s)
      : scale(s.gradient_scale),
        shrink(s.decoupled ? s.lr * s.weight_decay : 0),
        decay(s.decoupled ? 0 : s.weight_decay),
        gain1(1 - s.beta1),
        gain2(1 - s.beta2),
        step_size(s.lr / (1 - std::pow(s.beta1, static_cast<double>(s.step)))),
        root_scale(1 / std::sqrt(1 - std::pow(s.beta2, static_cast<double>(s.step)))),
        eps(s.eps) {
    if (s.rectified) rectify(s);
  }

 private:
  void rectify(const AdamSettings& s) {
    const auto t = static_cast<double>(s.step);
    const double power = std::pow(s.beta2, t), rho_inf = 2 / (1 - s.beta2) - 1;
    const double rho = rho_inf - 2 * t * power / (1 - power);
    if (rho > 5) {
      step_size *= std::sqrt((rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho));
      eps *= root_scale;
    } else {
      root_scale = 0;
      eps = 1;
    }
  }
};

/// m += (1 - beta1) (g - m);  v += (1 - beta2) (g^2 - v);  p -= lr weight_decay p + the step above.
/// Small factors, not their complements: a float 0.999 beside a float 0.001 would bend v by 1e-5, and a float
/// 1 - lr weight_decay = 0.99999 would move a parameter by 3e-5 of itself in 1000 steps.
template <class T>
void adam(const T* g, const AdamFactors& f, std::size_t n, T* p, T* m, T* v) {
  const auto gain1 = static_cast<T>(f.gain1), gain2 = static_cast<T>(f.gain2), eps = static_cast<T>(f.eps);
  for (std::size_t i = 0; i < n; ++i) {
    const T gradient = static_cast<T>(f.scale) * g[i] + static_cast<T>(f.decay) * p[i];
    m[i] += gain1 * (gradient - m[i]);
    v[i] += gain2 * (gradient * gradient - v[i]);
    const T root = std::sqrt(v[i]) * static_cast<T>(f.root_scale) + eps;
    p[i] -= static_cast<T>(f.shrink) * p[i] + static_cast<T>(f.step_size) * (m[i] / root);
  }
}
template <class T>
void adam(const T* g, const AdamSettings& settings, std::size_t n, T* p, T* m, T* v) {
  adam(g, AdamFactors(settings), n, p, m, v);
}

/// g' = g + weight_decay p;  velocity = momentum velocity + g';  p -= lr (nesterov ? g' + momentum velocity : velocity).
template <class T>
void sgd(const T* g, const SgdSettings& settings, std::size_t n, T* p, T* velocity) {
  const auto lr = static_cast<T>(settings.lr), momentum = static_cast<T>(settings.momentum);
  for (std::size_t i = 0; i < n; ++i) {
    const T gradient = static_cast<T>(settings.gradient_scale) * g[i] + static_cast<T>(settings.weight_decay) * p[i];
    T direction = gradient;
    if (settings.momentum != 0) {
      velocity[i] = momentum * velocity[i] + gradient;
      direction = settings.nesterov ? gradient + momentum * velocity[i] : velocity[i];
    }
    p[i] -= lr * direction;
  }
}

}  // namespace addnorm::kernels::reference
