// Specification of softmax and log-softmax over rows, and of the fused softmax + cross-entropy.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace addnorm::kernels {

/// The arguments of cross_entropy; the formula stands in reduce/softmax.h.
template <class T>
struct CrossEntropyArgs {
  std::size_t rows = 0;
  std::size_t classes = 0;
  const T* logits = nullptr;              ///< [rows, classes]
  const std::int32_t* targets = nullptr;  ///< [rows], each in [0, classes) or ignore_index
  const T* class_weights = nullptr;       ///< [classes], finite and >= 0; null: all 1
  std::int32_t ignore_index = -100;       ///< rows with this target: loss 0, gradient 0, their logits are not looked at
  double label_smoothing = 0;             ///< 0 ... 1
  double gradient_scale = 1;              ///< every gradient is multiplied by it
  double* losses = nullptr;               ///< [rows]
  T* dlogits = nullptr;                   ///< [rows, classes], may be logits; null: not wanted
};

namespace reference {

/// The largest element, and log(sum of e^(x - max)): together the log-sum-exp, without overflow.
template <class T>
struct LogSum {
  T max;
  T log_sum;
};

template <class T>
LogSum<T> log_sum(const T* x, std::size_t width) {
  T max = -std::numeric_limits<T>::infinity();
  for (std::size_t c = 0; c < width; ++c) max = x[c] > max ? x[c] : max;
  double sum = 0;
  for (std::size_t c = 0; c < width; ++c) sum += static_cast<double>(std::exp(x[c] - max));
  return {max, static_cast<T>(std::log(sum))};
}

template <class T>
void softmax(const T* x, std::size_t rows, std::size_t width, T* y) {
  for (std::size_t r = 0; r < rows; ++r) {
    const LogSum<T> row = log_sum(x + r * width, width);
    for (std::size_t c = 0; c < width; ++c) y[r * width + c] = std::exp(x[r * width + c] - row.max - row.log_sum);
  }
}

template <class T>
void log_softmax(const T* x, std::size_t rows, std::size_t width, T* y) {
  for (std::size_t r = 0; r < rows; ++r) {
    const LogSum<T> row = log_sum(x + r * width, width);
    for (std::size_t c = 0; c < width; ++c) y[r * width + c] = x[r * width + c] - row.max - row.log_sum;
  }
}

/// dx = y * (dy - sum(dy * y)), y = softmax(x).
template <class T>
void softmax_grad(const T* dy, const T* y, std::size_t rows, std::size_t width, T* dx) {
  for (std::size_t r = 0; r < rows; ++r) {
    double mean = 0;
    for (std::size_t i = r * width; i < (r + 1) * width; ++i) mean += static_cast<double>(dy[i]) * static_cast<double>(y[i]);
    for (std::size_t i = r * width; i < (r + 1) * width; ++i) dx[i] = y[i] * (dy[i] - static_cast<T>(mean));
  }
}

/// dx = dy - e^y * sum(dy), y = log_softmax(x).
template <class T>
void log_softmax_grad(const T* dy, const T* y, std::size_t rows, std::size_t width, T* dx) {
  for (std::size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::size_t i = r * width; i < (r + 1) * width; ++i) sum += static_cast<double>(dy[i]);
    for (std::size_t i = r * width; i < (r + 1) * width; ++i) dx[i] = dy[i] - std::exp(y[i]) * static_cast<T>(sum);
  }
}

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

}  // namespace reference
}  // namespace addnorm::kernels
