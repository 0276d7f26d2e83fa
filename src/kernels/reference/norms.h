// Specification of the norms beside Add & Norm and batch norm: L2 norm, partial RMS norm, Dynamic Tanh.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

namespace addnorm::kernels::reference {

// L2 norm, and ScaleNorm (Nguyen and Salazar 2019), which is the same with a learned length.

/// What a row is divided by: max(norm, eps). NaN for a NaN, and for an infinite norm, which would make zeros of the row.
inline double l2_divisor(double norm, double eps) {
  if (std::isinf(norm)) return std::numeric_limits<double>::quiet_NaN();
  return norm < eps ? eps : norm;
}

/// numerator / divisor; 0 / 0 is 0, so that a row of zeros stays one even with eps = 0.
inline double l2_quotient(double numerator, double divisor) { return divisor == 0 ? 0.0 : numerator / divisor; }

template <class T>
void l2_norm(const T* x, std::size_t rows, std::size_t width, double g, double eps, T* y, double* norm) {
  for (std::size_t r = 0; r < rows; ++r) {
    const T* row = x + r * width;
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i) squares += static_cast<double>(row[i]) * static_cast<double>(row[i]);
    const double length = std::sqrt(squares);
    const double factor = l2_quotient(g, l2_divisor(length, eps));
    for (std::size_t i = 0; i < width; ++i) y[r * width + i] = static_cast<T>(static_cast<double>(row[i]) * factor);
    if (norm != nullptr) norm[r] = length;
  }
}

/// With m = max(norm, eps): dx = g / m * (dy - x * (x . dy) / m^2), without the second term where norm < eps: there the
/// function is linear. row_dg[r] = (x . dy) / m.
template <class T>
void l2_norm_grad(const T* dy, const T* x, const double* norm, std::size_t rows, std::size_t width, double g, double eps, T* dx,
                  double* row_dg) {
  for (std::size_t r = 0; r < rows; ++r) {
    const T* row = x + r * width;
    const T* up = dy + r * width;
    double dot = 0;
    for (std::size_t i = 0; i < width; ++i) dot += static_cast<double>(row[i]) * static_cast<double>(up[i]);
    const double m = l2_divisor(norm[r], eps);
    const double share = l2_quotient(dot, m);
    if (row_dg != nullptr) row_dg[r] = share;
    if (dx == nullptr) continue;
    const double factor = l2_quotient(g, m);
    const double along = norm[r] < eps ? 0.0 : l2_quotient(share, m);
    for (std::size_t i = 0; i < width; ++i)
      dx[r * width + i] = static_cast<T>((static_cast<double>(up[i]) - static_cast<double>(row[i]) * along) * factor);
  }
}

// pRMSNorm (Zhang and Sennrich 2019): rows divided by the root mean square of their first features. There is no kernel: these
// loops serve float too, where they are not time-critical.

/// y = x * s,  s = 1 / (u + eps) or 1 / sqrt(u^2 + eps),  u^2 = mean of x_i^2 over i < measured. root [rows] receives u.
template <class T>
void partial_rms(const T* x, std::size_t rows, std::size_t width, std::size_t measured, double eps, bool eps_inside, T* y,
                 double* root) {
  for (std::size_t r = 0; r < rows; ++r, x += width, y += width) {
    double squares = 0;
    for (std::size_t i = 0; i < measured; ++i) squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    const double u = std::sqrt(squares / static_cast<double>(measured));
    const double s = eps_inside ? 1 / std::sqrt(u * u + eps) : 1 / (u + eps);
    for (std::size_t i = 0; i < width; ++i) y[i] = static_cast<T>(static_cast<double>(x[i]) * s);
    root[r] = u;
  }
}

/// dx_i = s dy_i + (x . dy) ds/dx_i, where ds/dx_i = -s^3 x_i / measured (eps inside), -s^2 x_i / (measured u) (outside; at
/// u = 0 the slope is taken as 0), and 0 for i >= measured.
template <class T>
void partial_rms_grad(const T* dy, const T* x, const double* root, std::size_t rows, std::size_t width, std::size_t measured,
                      double eps, bool eps_inside, T* dx) {
  for (std::size_t r = 0; r < rows; ++r, dy += width, x += width, dx += width) {
    double dot = 0;
    for (std::size_t i = 0; i < width; ++i) dot += static_cast<double>(x[i]) * static_cast<double>(dy[i]);
    const double u = root[r];
    const double s = eps_inside ? 1 / std::sqrt(u * u + eps) : 1 / (u + eps);
    const double slope = (eps_inside ? s * s * s : u == 0 ? 0 : s * s / u) / static_cast<double>(measured);
    for (std::size_t i = 0; i < width; ++i) {
      const double along = i < measured ? dot * slope * static_cast<double>(x[i]) : 0.0;
      dx[i] = static_cast<T>(s * static_cast<double>(dy[i]) - along);
    }
  }
}

// Dynamic Tanh (Zhu et al. 2025): not a norm, but it takes the place of one.

template <class T>
void dyt(const T* x, const T* gain, const T* beta, T alpha, std::size_t rows, std::size_t width, T* y) {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < width; ++j) y[r * width + j] = gain[j] * std::tanh(alpha * x[r * width + j]) + beta[j];
}

/// With t = tanh(alpha x) and u = dy * gain * (1 - t^2): dx = alpha u; sums over rows [3, width]: dy t, dy, u x.
/// Null where not wanted.
template <class T>
void dyt_grad(const T* dy, const T* x, const T* gain, T alpha, std::size_t rows, std::size_t width, T* dx, T* sums) {
  for (std::size_t j = 0; j < width; ++j) {
    double dgain = 0, dbeta = 0, dalpha = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t i = r * width + j;
      const T t = std::tanh(alpha * x[i]);
      const T u = dy[i] * gain[j] * (1 - t * t);
      if (dx) dx[i] = alpha * u;
      dgain += static_cast<double>(dy[i] * t);
      dbeta += static_cast<double>(dy[i]);
      dalpha += static_cast<double>(u * x[i]);
    }
    if (!sums) continue;
    sums[j] = static_cast<T>(dgain);
    sums[width + j] = static_cast<T>(dbeta);
    sums[2 * width + j] = static_cast<T>(dalpha);
  }
}

}  // namespace addnorm::kernels::reference
