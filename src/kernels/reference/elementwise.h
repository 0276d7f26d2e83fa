// Specification of the element-wise kernels: arithmetic, dropout by counter, weighted sums, rows picked from a table.
#pragma once

#include <cstddef>
#include <cstdint>

#include "addnorm/core/rng.h"

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

template <class T>
void add_bias(const T* x, const T* bias, std::size_t rows, std::size_t width, T* y) {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < width; ++c) y[r * width + c] = x[r * width + c] + bias[c];
}

template <class T>
void multiply_rows(const T* x, const T* v, std::size_t rows, std::size_t width, T* y) {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < width; ++j) y[r * width + j] = x[r * width + j] * v[j];
}

/// Element (r, c) is 0 when random_word(key, first_row + r, c) lies below the threshold of p, else x / (1 - p).
template <class T>
void dropout(const T* x, std::size_t rows, std::size_t width, float p, std::uint64_t key, std::uint64_t first_row, T* y) {
  const T scale = static_cast<T>(keep_scale(p));
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < width; ++c) {
      const bool keep = random_word(key, first_row + r, static_cast<std::uint32_t>(c)) >= drop_threshold(p);
      y[r * width + c] = keep ? x[r * width + c] * scale : T{0};
    }
  }
}

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

template <class T>
void embedding(const T* table, const std::int32_t* ids, std::size_t count, std::size_t width, T* y) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t c = 0; c < width; ++c) y[i * width + c] = table[static_cast<std::size_t>(ids[i]) * width + c];
}

/// dtable [vocabulary, width]: zero, then every row of dy added to the row of its id, first position first.
template <class T>
void embedding_grad(const T* dy, const std::int32_t* ids, std::size_t count, std::size_t width, std::size_t vocabulary,
                    T* dtable) {
  for (std::size_t i = 0; i < vocabulary * width; ++i) dtable[i] = 0;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t c = 0; c < width; ++c) dtable[static_cast<std::size_t>(ids[i]) * width + c] += dy[i * width + c];
}

}  // namespace addnorm::kernels::reference
