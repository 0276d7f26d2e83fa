// Copies of parts of a matrix into compact buffers.
#pragma once

#include <cstddef>

namespace addnorm::kernels {

/// y[r * ldy + c] = x[r * ldx + c]
void copy_panel(const float* x, std::size_t ldx, std::size_t rows, std::size_t columns, float* y, std::size_t ldy);
/// y[c * ldy + r] = x[r * ldx + c]
void transpose_panel(const float* x, std::size_t ldx, std::size_t rows, std::size_t columns, float* y, std::size_t ldy);

}  // namespace addnorm::kernels
