// Specification of the column sums.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/reduce/row_blocks.h"

namespace addnorm::kernels::reference {

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

}  // namespace addnorm::kernels::reference
