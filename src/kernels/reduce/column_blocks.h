// Sums over rows in double: what kernels that add up columns in fixed blocks of rows have in common.
#pragma once

#include <cstddef>

#include "kernels/reduce/row_blocks.h"

namespace addnorm::kernels {

/// total[j] = partial[j] + partial[stride + j] + ... over the blocks, in block order; 0 for no blocks.
void combine_column_blocks(const double* partial, std::size_t blocks, std::size_t stride, std::size_t width, double* total);

}  // namespace addnorm::kernels
