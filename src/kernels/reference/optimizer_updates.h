// Specification of the optimizer updates: the formulas of torch.optim.
#pragma once

#include <cmath>
#include <cstddef>

#include "kernels/optimizer_args.h"

namespace addnorm::kernels::reference {

/// What of Adam's settings depends on the step alone.
struct AdamFactors {
  double shrink, decay, gain1, gain2, step_size, root_scale;  // shrink: share of p taken off; decay: share that joins g

  explicit AdamFactors(const AdamSettings& s)
      : shrink(s.decoupled ? s.lr * s.weight_decay : 0),
        decay(s.decoupled ? 0 : s.weight_decay),
        gain1(1 - s.beta1),
        gain2(1 - s.beta2),
        step_size(s.lr / (1 - std::pow(s.beta1, static_cast<double>(s.step)))),
        root_scale(1 / std::sqrt(1 - std::pow(s.beta2, static_cast<double>(s.step)))) {}
};

/// m += (1 - beta1) (g - m);  v += (1 - beta2) (g^2 - v);  p -= lr weight_decay p + lr / c1 * m / (sqrt(v) / sqrt(c2) + eps).
/// Small factors, not their complements: a float 0.999 beside a float 0.001 would bend v by 1e-5, and a float
/// 1 - lr weight_decay = 0.99999 would move a parameter by 3e-5 of itself in 1000 steps.
template <class T>
void adam(const T* g, const AdamSettings& settings, std::size_t n, T* p, T* m, T* v) {
  const AdamFactors f(settings);
  const auto gain1 = static_cast<T>(f.gain1), gain2 = static_cast<T>(f.gain2), eps = static_cast<T>(settings.eps);
  for (std::size_t i = 0; i < n; ++i) {
    const T gradient = g[i] + static_cast<T>(f.decay) * p[i];
    m[i] += gain1 * (gradient - m[i]);
    v[i] += gain2 * (gradient * gradient - v[i]);
    const T root = std::sqrt(v[i]) * static_cast<T>(f.root_scale) + eps;
    p[i] -= static_cast<T>(f.shrink) * p[i] + static_cast<T>(f.step_size) * (m[i] / root);
  }
}

/// g' = g + weight_decay p;  velocity = momentum velocity + g';  p -= lr (nesterov ? g' + momentum velocity : velocity).
template <class T>
void sgd(const T* g, const SgdSettings& settings, std::size_t n, T* p, T* velocity) {
  const auto lr = static_cast<T>(settings.lr), momentum = static_cast<T>(settings.momentum);
  for (std::size_t i = 0; i < n; ++i) {
    const T gradient = g[i] + static_cast<T>(settings.weight_decay) * p[i];
    T direction = gradient;
    if (settings.momentum != 0) {
      velocity[i] = momentum * velocity[i] + gradient;
      direction = settings.nesterov ? gradient + momentum * velocity[i] : velocity[i];
    }
    p[i] -= lr * direction;
  }
}

}  // namespace addnorm::kernels::reference
