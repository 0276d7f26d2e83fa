// Element-wise arithmetic: over flat arrays, of rows with one row, dropout, and the weighted sum of several arrays.
// Outputs may be one of the inputs, except those of weighted_sum.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/reference/elementwise.h"

namespace addnorm::kernels {

void add(const float* a, const float* b, std::size_t n, float* y);       ///< y = a + b
void subtract(const float* a, const float* b, std::size_t n, float* y);  ///< y = a - b
void multiply(const float* a, const float* b, std::size_t n, float* y);  ///< y = a * b
void scale(const float* x, float factor, std::size_t n, float* y);       ///< y = factor * x

/// y[r, c] = x[r, c] + bias[c]; dense rows. The gradient of the bias is column_sums in reduce.h.
void add_bias(const float* x, const float* bias, std::size_t rows, std::size_t width, float* y);
/// y[r, j] = x[r, j] * v[j]; dense rows. The gradient of v is column_dots in reduce.h.
void multiply_rows(const float* x, const float* v, std::size_t rows, std::size_t width, float* y);

/// Dropout whose mask is a function of (key, row, column): nothing is stored, and backward is the same call on dy.
/// y[r, c] = x[r, c] / (1 - p) where kept, 0 where dropped (a dropped NaN too); 0 <= p < 1.
/// `first_row` is the global index of row 0, so a batch may be split anywhere. Equals the reference bit for bit on every
/// target and for any number of threads. Cost: ten Philox rounds per four elements, 1.3 ns per element
/// measured on one core with AVX2.
void dropout(const float* x, std::size_t rows, std::size_t width, float p, std::uint64_t key, std::uint64_t first_row, float* y);

/// A weighted sum of several arrays in one pass over memory: how DLCL and DenseFormer mix the outputs of earlier layers.
///
///   y = sum over k of w[k] * xs[k]          xs: `count` arrays of n elements
///
/// Products and sums are rounded to float32, in the order of k: the same bits as the reference on every target and for any
/// number of threads. Each array is read once and y written once; y must not be one of them unless count is 1.
void weighted_sum(const float* const* xs, const float* w, std::size_t count, std::size_t n, float* y);

/// How many doubles of scratch weighted_sum_grad needs: a partial sum per block of elements and array.
std::size_t weighted_sum_grad_scratch(std::size_t count, std::size_t n);

/// dxs[k] = w[k] * dy, where dxs[k] is not null; dw[k] = sum of dy * xs[k], in double, null when not wanted. One pass: dy and
/// every xs[k] are read once.
void weighted_sum_grad(const float* dy, const float* const* xs, const float* w, std::size_t count, std::size_t n, double* scratch,
                       float* const* dxs, double* dw);

inline void add(const double* a, const double* b, std::size_t n, double* y) { reference::add(a, b, n, y); }
inline void subtract(const double* a, const double* b, std::size_t n, double* y) { reference::subtract(a, b, n, y); }
inline void multiply(const double* a, const double* b, std::size_t n, double* y) { reference::multiply(a, b, n, y); }
inline void scale(const double* x, double factor, std::size_t n, double* y) { reference::scale(x, factor, n, y); }
inline void add_bias(const double* x, const double* bias, std::size_t rows, std::size_t width, double* y) {
  reference::add_bias(x, bias, rows, width, y);
}
inline void multiply_rows(const double* x, const double* v, std::size_t rows, std::size_t width, double* y) {
  reference::multiply_rows(x, v, rows, width, y);
}
inline void dropout(const double* x, std::size_t rows, std::size_t width, float p, std::uint64_t key, std::uint64_t first_row,
                    double* y) {
  reference::dropout(x, rows, width, p, key, first_row, y);
}
inline void weighted_sum(const double* const* xs, const double* w, std::size_t count, std::size_t n, double* y) {
  reference::weighted_sum(xs, w, count, n, y);
}
inline void weighted_sum_grad(const double* dy, const double* const* xs, const double* w, std::size_t count, std::size_t n,
                              double*, double* const* dxs, double* dw) {
  reference::weighted_sum_grad(dy, xs, w, count, n, dxs, dw);
}

}  // namespace addnorm::kernels
