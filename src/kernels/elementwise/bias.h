// One row added to every row. Its gradient is column_sums.h.
#pragma once

#include <cstddef>

#include "kernels/reference/bias.h"

namespace addnorm::kernels {

/// y[r, c] = x[r, c] + bias[c]; dense rows; y may be x.
void add_bias(const float* x, const float* bias, std::size_t rows, std::size_t width, float* y);

inline void add_bias(const double* x, const double* bias, std::size_t rows, std::size_t width, double* y) {
  reference::add_bias(x, bias, rows, width, y);
}

}  // namespace addnorm::kernels
