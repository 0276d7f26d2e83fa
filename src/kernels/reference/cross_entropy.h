// Specification of the fused softmax + cross-entropy.
#pragma once

#include <cmath>

#include "kernels/reduce/cross_entropy_args.h"
#include "kernels/reference/softmax.h"

namespace addnorm::kernels::reference {

template <class T>
double class_weight(const CrossEntropyArgs<T>& args, std::size_t c) {
  return args.class_weights == nullptr ? 1.0 : static_cast<double>(args.class_weights[c]);
}

/// One row with target t: loss = (1 - s) w_t (-log p_t) + s / C * sum_c w_c (-log p_c),
/// dlogits_c = scale * (total p_c - own_c), total = (1 - s) w_t + s / C * sum w, own_c = (1 - s) w_t [c = t] + s / C * w_c.
template <class T>
void cross_entropy_row(const CrossEntropyArgs<T>& args, std::size_t r) {
  const T* z = args.logits + r * args.classes;
  const auto t = static_cast<std::size_t>(args.targets[r]);
  const double smooth = args.label_smoothing / static_cast<double>(args.classes);
  const double direct = (1 - args.label_smoothing) * class_weight(args, t);
  const LogSum<T> row = log_sum(z, args.classes);

  double loss = 0, total = direct;
  for (std::size_t c = 0; c < args.classes; ++c) {
    const double own = smooth * class_weight(args, c) + (c == t ? direct : 0.0);
    const double log_p = static_cast<double>(z[c] - row.max) - static_cast<double>(row.log_sum);
    if (own != 0) loss -= own * log_p;  // 0 * infinity counts as 0: p = 0 hurts only where there is weight
    total += smooth * class_weight(args, c);
  }
  args.losses[r] = loss;
  if (args.dlogits == nullptr) return;
  for (std::size_t c = 0; c < args.classes; ++c) {
    const double own = smooth * class_weight(args, c) + (c == t ? direct : 0.0);
    const auto p = static_cast<double>(std::exp(z[c] - row.max - row.log_sum));
    args.dlogits[r * args.classes + c] = static_cast<T>(args.gradient_scale * (total * p - own));
  }
}

template <class T>
void cross_entropy(const CrossEntropyArgs<T>& args) {
  for (std::size_t r = 0; r < args.rows; ++r) {
    if (args.targets[r] != args.ignore_index) {
      cross_entropy_row(args, r);
      continue;
    }
    args.losses[r] = 0;
    if (args.dlogits == nullptr) continue;
    for (std::size_t c = 0; c < args.classes; ++c) args.dlogits[r * args.classes + c] = 0;
  }
}

/// The sum of class weights over the rows that count: what a mean divides by.
template <class T>
double target_weight(const CrossEntropyArgs<T>& args) {
  double sum = 0;
  for (std::size_t r = 0; r < args.rows; ++r)
    if (args.targets[r] != args.ignore_index) sum += class_weight(args, static_cast<std::size_t>(args.targets[r]));
  return sum;
}

}  // namespace addnorm::kernels::reference
