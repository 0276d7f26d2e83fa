// Specification of Adafactor: the formula of torch.optim.Adafactor (Shazeer and Stern 2018, with the deviations that PyTorch
// documents).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/optimizer/args.h"

namespace addnorm::kernels::reference {

/// What depends on the settings and on the RMS of a parameter and of its update U alone.
struct AdafactorFactors {
  double gain;    // 1 - beta2 = t^-beta2_power: 1 at the first step, so that moments need no bias correction
  double shrink;  // share of p taken off
  double rate;    // min(lr, 1 / sqrt(t))
  double eps2, clip;

  explicit AdafactorFactors(const AdafactorSettings& s)
      : gain(std::pow(static_cast<double>(s.step), -s.beta2_power)),
        shrink(s.lr * s.weight_decay),
        rate(std::min(s.lr, 1 / std::sqrt(static_cast<double>(s.step)))),
        eps2(s.eps2),
        clip(s.update_clip) {}
  /// p -= this times U, with RMS(p) before the decay.
  double step_size(double rms_p, double rms_u) const { return std::max(eps2, rms_p) * rate / std::max(1.0, rms_u / clip); }
};

/// p -= shrink p + step_size U with U = g / max(sqrt(V), eps1); variance(i) is V of element i.
template <class T, class Variance>
void adafactor_step(const T* g, const AdafactorSettings& s, std::size_t n, T* p, Variance variance) {
  const AdafactorFactors f(s);
  const auto update = [&](std::size_t i) {
    return s.gradient_scale * static_cast<double>(g[i]) / std::sqrt(std::max(variance(i), s.eps1 * s.eps1));
  };
  double p_squares = 0, u_squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    p_squares += static_cast<double>(p[i]) * static_cast<double>(p[i]);
    u_squares += update(i) * update(i);
  }
  const auto count = static_cast<double>(n);
  const double step_size = f.step_size(std::sqrt(p_squares / count), std::sqrt(u_squares / count));
  for (std::size_t i = 0; i < n; ++i)
    p[i] = static_cast<T>(static_cast<double>(p[i]) - (f.shrink * static_cast<double>(p[i]) + step_size * update(i)));
}

/// Vectors: v += (1 - beta2) (g^2 - v), V = v.
template <class T>
void adafactor(const T* g, const AdafactorSettings& s, std::size_t n, T* p, T* v) {
  const double gain = AdafactorFactors(s).gain;
  for (std::size_t i = 0; i < n; ++i) {
    const double gradient = s.gradient_scale * static_cast<double>(g[i]), before = static_cast<double>(v[i]);
    v[i] = static_cast<T>(before + gain * (gradient * gradient - before));
  }
  adafactor_step(g, s, n, p, [&](std::size_t i) { return static_cast<double>(v[i]); });
}

/// `count` matrices [rows, width], which are one parameter. R and C follow the means of g^2 over a row and over a column like v
/// above; V = R C / max(mean of R, eps1). row [count, rows], column [count, width].
template <class T>
void adafactor(const T* g, const AdafactorSettings& s, std::size_t count, std::size_t rows, std::size_t width, T* p, T* row,
               T* column) {
  const double gain = AdafactorFactors(s).gain;
  const auto square = [&](std::size_t k, std::size_t r, std::size_t c) {
    const double gradient = s.gradient_scale * static_cast<double>(g[(k * rows + r) * width + c]);
    return gradient * gradient;
  };
  const auto follow = [gain](T& moment, double mean) {
    moment = static_cast<T>(static_cast<double>(moment) + gain * (mean - static_cast<double>(moment)));
  };
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (std::size_t c = 0; c < width; ++c) sum += square(k, r, c);
      follow(row[k * rows + r], sum / static_cast<double>(width));
    }
    for (std::size_t c = 0; c < width; ++c) {
      double sum = 0;
      for (std::size_t r = 0; r < rows; ++r) sum += square(k, r, c);
      follow(column[k * width + c], sum / static_cast<double>(rows));
    }
  }
  std::size_t matrix = count;  // the one whose mean of R is known
  double mean = 0;
  adafactor_step(g, s, count * rows * width, p, [&](std::size_t i) {
    if (const std::size_t k = i / (rows * width); k != matrix) {
      matrix = k;
      mean = 0;
      for (std::size_t r = 0; r < rows; ++r) mean += static_cast<double>(row[k * rows + r]) / static_cast<double>(rows);
    }
    return static_cast<double>(row[i / width]) * static_cast<double>(column[matrix * width + i % width]) / std::max(mean, s.eps1);
  });
}

}  // namespace addnorm::kernels::reference
