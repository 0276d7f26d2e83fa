// Specification of the fused Add & Norm: plain loops, one row at a time, for float and double.
//
//   sum = a * x + b * drop(f);   y = norm(sum) * gain + beta
//
// Statistics are those of the sum rounded to T. Their accumulators are double for both T.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "addnorm/core/rng.h"
#include "addnorm/kernels/add_norm.h"

namespace addnorm::kernels {

enum class NormKind { layer, rms };

namespace reference {

inline std::size_t stride_or(std::size_t stride, std::size_t width) { return stride == 0 ? width : stride; }

template <class T>
T coefficient_at(const Coefficient<T>& c, std::size_t column) {
  return c.per_feature ? c.per_feature[column] : c.scalar;
}

template <class T>
T gain_at(const T* gamma, bool one_plus, std::size_t column) {
  if (gamma == nullptr) return T{1};
  return one_plus ? T{1} + gamma[column] : gamma[column];
}

/// v / (1 - p), or 0 where the element is dropped, whatever v was: NaN and infinity are dropped too.
template <class T>
T kept(const DropoutSpec& dropout, T v, std::size_t row, std::size_t column) {
  if (dropout.p == 0) return v;
  const std::uint32_t word = random_word(dropout.key, dropout.first_row + row, static_cast<std::uint32_t>(column));
  return word < drop_threshold(dropout.p) ? T{0} : v * static_cast<T>(keep_scale(dropout.p));
}

template <class T>
T sum_at(const AddNormArgs<T>& n, std::size_t row, std::size_t column) {
  T s = n.x[row * stride_or(n.x_stride, n.width) + column];
  if (!n.a.is_one()) s = coefficient_at(n.a, column) * s;
  if (n.f == nullptr) return s;
  T f = kept(n.dropout, n.f[row * stride_or(n.f_stride, n.width) + column], row, column);
  if (!n.b.is_one()) f = coefficient_at(n.b, column) * f;
  return s + f;
}

/// 1 / sqrt(var + eps), 1 / sqrt(mean square + eps), or 1 / (sqrt(mean square) + eps). An infinity in the row makes NaN of
/// it: 1 / infinity = 0 would turn its finite neighbours into beta and hide the fault from all but one element.
inline double reciprocal_root(double second_moment, double eps, EpsPlace place) {
  if (std::isinf(second_moment)) return std::numeric_limits<double>::quiet_NaN();
  return place == EpsPlace::inside_root ? 1.0 / std::sqrt(second_moment + eps) : 1.0 / (std::sqrt(second_moment) + eps);
}

template <class T>
void add_norm(NormKind kind, const AddNormArgs<T>& n) {
  for (std::size_t r = 0; r < n.rows; ++r) {
    double mean = 0;
    double second = 0;  // variance, or mean square
    const auto width = static_cast<double>(n.width);
    if (kind == NormKind::layer) {
      // Shifted by the first element: a constant row gives exactly its value as mean and 0 as variance.
      const auto shift = n.width == 0 ? 0.0 : static_cast<double>(sum_at(n, r, 0));
      for (std::size_t i = 0; i < n.width; ++i) mean += static_cast<double>(sum_at(n, r, i)) - shift;
      mean = shift + mean / width;
    }
    for (std::size_t i = 0; i < n.width; ++i) {
      const double centred = static_cast<double>(sum_at(n, r, i)) - mean;
      second += centred * centred;
    }
    const EpsPlace place = kind == NormKind::layer ? EpsPlace::inside_root : n.eps_place;
    const double rstd = reciprocal_root(second / width, static_cast<double>(n.eps), place);

    for (std::size_t i = 0; i < n.width; ++i) {
      const T s = sum_at(n, r, i);
      const auto centred = static_cast<T>(static_cast<double>(s) - mean);
      T y = centred * static_cast<T>(rstd) * gain_at(n.gamma, n.gain_is_one_plus_gamma, i);
      if (n.beta) y += n.beta[i];
      if (n.sum) n.sum[r * stride_or(n.sum_stride, n.width) + i] = s;
      if (n.y) n.y[r * stride_or(n.y_stride, n.width) + i] = y;
    }
    if (n.mean) n.mean[r] = mean;
    if (n.rstd) n.rstd[r] = static_cast<T>(rstd);
  }
}

/// With xhat = (sum - mean) * rstd and g = dy * gain, averages over the row:
///   layer: dnorm = rstd * (g - mean(g) - xhat * mean(g * xhat))
///   rms:   dnorm = rstd * (g - xhat * mean(g * xhat) * k),  k = 1 with eps inside the root, (r + eps) / r outside
/// total = dnorm + dsum;  dx = a * total;  df = b * mask * total
template <class T>
void add_norm_grad(NormKind kind, const AddNormGradArgs<T>& n) {
  const auto zero = [&](T* out, bool per_feature) {
    if (out)
      for (std::size_t i = 0; i < (per_feature ? n.width : 1); ++i) out[i] = T{0};
  };
  zero(n.dgamma, true);
  zero(n.dbeta, true);
  zero(n.da, n.a.per_feature != nullptr);
  zero(n.db, n.b.per_feature != nullptr);

  for (std::size_t r = 0; r < n.rows; ++r) {
    // Without dy the statistics do not matter and may be absent.
    const T* dy = n.dy ? n.dy + r * stride_or(n.dy_stride, n.width) : nullptr;
    const T* s = n.sum ? n.sum + r * stride_or(n.sum_stride, n.width) : nullptr;
    const double mean = dy && kind == NormKind::layer ? n.mean[r] : 0.0;
    const double rstd = dy ? static_cast<double>(n.rstd[r]) : 0.0;
    const auto xhat = [&](std::size_t i) { return dy ? (static_cast<double>(s[i]) - mean) * rstd : 0.0; };
    const auto g = [&](std::size_t i) {
      return dy ? static_cast<double>(dy[i]) * static_cast<double>(gain_at(n.gamma, n.gain_is_one_plus_gamma, i)) : 0.0;
    };

    double mean_g = 0;
    double mean_gx = 0;
    for (std::size_t i = 0; i < n.width; ++i) {
      mean_g += g(i);
      mean_gx += g(i) * xhat(i);
    }
    mean_g = kind == NormKind::layer ? mean_g / static_cast<double>(n.width) : 0.0;
    mean_gx /= static_cast<double>(n.width);
    if (dy && kind == NormKind::rms && n.eps_place == EpsPlace::outside_root) {
      const double root = 1.0 / rstd - static_cast<double>(n.eps);
      mean_gx *= root > 0 ? (1.0 / rstd) / root : 0.0;  // a row of zeros: xhat is 0, and so is the term
    }

    for (std::size_t i = 0; i < n.width; ++i) {
      auto total = static_cast<T>(rstd * (g(i) - mean_g - xhat(i) * mean_gx));
      if (n.dsum) total += n.dsum[r * stride_or(n.dsum_stride, n.width) + i];
      if (n.da) n.da[n.a.per_feature ? i : 0] += total * n.x[r * stride_or(n.x_stride, n.width) + i];
      if (n.db) n.db[n.b.per_feature ? i : 0] += total * kept(n.dropout, n.f[r * stride_or(n.f_stride, n.width) + i], r, i);
      if (n.dgamma && dy) n.dgamma[i] += dy[i] * static_cast<T>(xhat(i));
      if (n.dbeta && dy) n.dbeta[i] += dy[i];
      if (n.df) n.df[r * stride_or(n.df_stride, n.width) + i] = kept(n.dropout, coefficient_at(n.b, i) * total, r, i);
      if (n.dx) n.dx[r * stride_or(n.dx_stride, n.width) + i] = coefficient_at(n.a, i) * total;
    }
  }
}

}  // namespace reference
}  // namespace addnorm::kernels
