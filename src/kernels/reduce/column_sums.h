// Sums over rows: the gradient of everything that was broadcast to rows (biases, gains).
#pragma once

#include <cstddef>

#include "kernels/reduce/row_blocks.h"
#include "kernels/reference/column_sums.h"

namespace addnorm::kernels {

/// How many floats of scratch column_sums needs: one row of partial sums per block.
constexpr std::size_t column_sums_scratch(std::size_t rows, std::size_t width) { return row_blocks(rows) * width; }

/// y[c] = sum over r < rows of x[r * stride + c], c < width; 0 for no rows. y is written, not added to.
/// Float within kBlockRows rows, double across blocks: the error stays that of 64 additions.
/// Same bits as the reference loop on every target and for any number of threads: each column is added in row order.
/// Memory-bound; reads x once.
void column_sums(const float* x, std::size_t rows, std::size_t width, std::size_t stride, float* scratch, float* y);

/// From partial sums [blocks, width], for kernels that make their own: y[c] = sum over blocks in double, in block order.
void combine_partial_sums(const float* partial, std::size_t blocks, std::size_t width, float* y);

inline void column_sums(const double* x, std::size_t rows, std::size_t width, std::size_t stride, double*, double* y) {
  reference::column_sums(x, rows, width, stride, y);
}

}  // namespace addnorm::kernels
