// Specification of sums over whole arrays and of products with a row.
#pragma once

#include <cstddef>

namespace addnorm::kernels::reference {

template <class T>
double sum(const T* x, std::size_t n) {
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) total += static_cast<double>(x[i]);
  return total;
}

template <class T>
double dot(const T* a, const T* b, std::size_t n) {
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) total += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return total;
}

template <class T>
void multiply_rows(const T* x, const T* v, std::size_t rows, std::size_t width, T* y) {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < width; ++j) y[r * width + j] = x[r * width + j] * v[j];
}

template <class T>
void column_dots(const T* a, const T* b, std::size_t rows, std::size_t width, double* dots) {
  for (std::size_t j = 0; j < width; ++j) {
    dots[j] = 0;
    for (std::size_t r = 0; r < rows; ++r)
      dots[j] += static_cast<double>(a[r * width + j]) * static_cast<double>(b[r * width + j]);
  }
}

}  // namespace addnorm::kernels::reference
