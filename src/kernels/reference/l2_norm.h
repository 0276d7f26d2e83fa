// Specification of the L2 norm and of ScaleNorm (Nguyen and Salazar 2019), which is the same with a learned length.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

namespace addnorm::kernels::reference {

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

}  // namespace addnorm::kernels::reference
