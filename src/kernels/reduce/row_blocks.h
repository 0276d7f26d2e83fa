// How rows are cut for sums over them.
#pragma once

#include <cstddef>

namespace addnorm::kernels {

/// Rows that are added up together before blocks are combined, in block order. Part of the results: it never depends on the
/// number of threads. Sums in float within a block err like 64 additions, however many rows there are.
inline constexpr std::size_t kBlockRows = 64;

constexpr std::size_t row_blocks(std::size_t rows) { return (rows + kBlockRows - 1) / kBlockRows; }

}  // namespace addnorm::kernels
