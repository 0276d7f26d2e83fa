// Sums over whole arrays, and sums over rows: the gradient of everything that was broadcast to rows (biases, gains).
// Work is cut into fixed blocks, whose sums are added in block order: the same bits for any number of threads.
#pragma once

#include <cstddef>

#include "kernels/reference/reduce.h"

namespace addnorm::kernels {

/// How many doubles of scratch sum, dot and sum_of_squares need.
std::size_t reduce_scratch(std::size_t n);
/// Sums of x[i] and of a[i] * b[i], in double.
double sum(const float* x, std::size_t n, double* scratch);
double dot(const float* a, const float* b, std::size_t n, double* scratch);
/// Overflows for no finite floats. The gradient norm is the root of the sum of these over the parameters, in a fixed order.
inline double sum_of_squares(const float* x, std::size_t n, double* scratch) { return dot(x, x, n, scratch); }

/// How many floats of scratch column_sums needs: one row of partial sums per block.
constexpr std::size_t column_sums_scratch(std::size_t rows, std::size_t width) { return row_blocks(rows) * width; }

/// y[c] = sum over r < rows of x[r * stride + c], c < width; 0 for no rows. y is written, not added to.
/// Float within kBlockRows rows, double across blocks: the error stays that of 64 additions.
/// Same bits as the reference loop on every target and for any number of threads: each column is added in row order.
/// Memory-bound; reads x once.
void column_sums(const float* x, std::size_t rows, std::size_t width, std::size_t stride, float* scratch, float* y);

/// From partial sums [blocks, width], for kernels that make their own: y[c] = sum over blocks in double, in block order.
void combine_partial_sums(const float* partial, std::size_t blocks, std::size_t width, float* y);

/// How many doubles of scratch column_dots needs.
std::size_t column_dots_scratch(std::size_t rows, std::size_t width);
/// dots[j] = sum over r of a[r, j] * b[r, j]: the gradient of v in multiply_rows.
void column_dots(const float* a, const float* b, std::size_t rows, std::size_t width, double* scratch, double* dots);

/// From partial sums in double, for kernels that make their own:
/// total[j] = partial[j] + partial[stride + j] + ... over the blocks, in block order; 0 for no blocks.
void combine_column_blocks(const double* partial, std::size_t blocks, std::size_t stride, std::size_t width, double* total);

inline double sum(const double* x, std::size_t n, double*) { return reference::sum(x, n); }
inline double dot(const double* a, const double* b, std::size_t n, double*) { return reference::dot(a, b, n); }
inline double sum_of_squares(const double* x, std::size_t n, double*) { return reference::dot(x, x, n); }
inline void column_dots(const double* a, const double* b, std::size_t rows, std::size_t width, double*, double* dots) {
  reference::column_dots(a, b, rows, width, dots);
}
inline void column_sums(const double* x, std::size_t rows, std::size_t width, std::size_t stride, double*, double* y) {
  reference::column_sums(x, rows, width, stride, y);
}

}  // namespace addnorm::kernels
