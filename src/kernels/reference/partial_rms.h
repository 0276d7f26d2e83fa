// pRMSNorm (Zhang and Sennrich 2019): rows divided by the root mean square of their first features. A plain loop serves float
// too: it is not time-critical.
#pragma once

#include <cmath>
#include <cstddef>

namespace addnorm::kernels::reference {

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

}  // namespace addnorm::kernels::reference
