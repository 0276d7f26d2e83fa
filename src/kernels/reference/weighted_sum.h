// Specification of the weighted sum of several arrays.
#pragma once

#include <cstddef>

namespace addnorm::kernels::reference {

template <class T>
void weighted_sum(const T* const* xs, const T* w, std::size_t count, std::size_t n, T* y) {
  for (std::size_t i = 0; i < n; ++i) {
    T total = 0;
    for (std::size_t k = 0; k < count; ++k) total += w[k] * xs[k][i];
    y[i] = total;
  }
}

template <class T>
void weighted_sum_grad(const T* dy, const T* const* xs, const T* w, std::size_t count, std::size_t n, T* const* dxs, double* dw) {
  for (std::size_t k = 0; k < count; ++k) {
    if (dw != nullptr) dw[k] = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (dxs[k] != nullptr) dxs[k][i] = w[k] * dy[i];
      if (dw != nullptr) dw[k] += static_cast<double>(dy[i]) * static_cast<double>(xs[k][i]);
    }
  }
}

}  // namespace addnorm::kernels::reference
