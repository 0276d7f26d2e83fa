// Specification of the element-wise kernels.
#pragma once

#include <cstddef>

namespace addnorm::kernels::reference {

template <class T>
void add(const T* a, const T* b, std::size_t n, T* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = a[i] + b[i];
}

template <class T>
void subtract(const T* a, const T* b, std::size_t n, T* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = a[i] - b[i];
}

template <class T>
void multiply(const T* a, const T* b, std::size_t n, T* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = a[i] * b[i];
}

template <class T>
void scale(const T* x, T factor, std::size_t n, T* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = factor * x[i];
}

}  // namespace addnorm::kernels::reference
