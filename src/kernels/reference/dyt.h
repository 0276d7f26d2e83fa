// Specification of Dynamic Tanh (Zhu et al. 2025): not a norm, but it takes the place of one.
#pragma once

#include <cmath>
#include <cstddef>

namespace addnorm::kernels::reference {

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
