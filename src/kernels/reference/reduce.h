// Specification of sums over whole arrays and over rows.
#pragma once

#include <algorithm>
#include <cstddef>

namespace addnorm::kernels {

/// Rows that are added up together before blocks are combined, in block order. Part of the results: it never depends on the
/// number of threads. Sums in float within a block err like 64 additions, however many rows there are.
inline constexpr std::size_t kBlockRows = 64;

constexpr std::size_t row_blocks(std::size_t rows) { return (rows + kBlockRows - 1) / kBlockRows; }

namespace reference {

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
void column_dots(const T* a, const T* b, std::size_t rows, std::size_t width, double* dots) {
  for (std::size_t j = 0; j < width; ++j) {
    dots[j] = 0;
    for (std::size_t r = 0; r < rows; ++r)
      dots[j] += static_cast<double>(a[r * width + j]) * static_cast<double>(b[r * width + j]);
  }
}

/// y[c] = sum over r of x[r * stride + c]: T within kBlockRows rows, double across blocks, first row first.
template <class T>
void column_sums(const T* x, std::size_t rows, std::size_t width, std::size_t stride, T* y) {
  for (std::size_t c = 0; c < width; ++c) {
    double total = 0;
    for (std::size_t begin = 0; begin < rows; begin += kBlockRows) {
      T sum = 0;
      for (std::size_t r = begin; r < std::min(rows, begin + kBlockRows); ++r) sum += x[r * stride + c];
      total += static_cast<double>(sum);
    }
    y[c] = static_cast<T>(total);
  }
}

}  // namespace reference
}  // namespace addnorm::kernels
