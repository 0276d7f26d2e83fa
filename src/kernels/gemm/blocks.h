// How a product is cut: it follows from m, n, k and which operand is transposed, never from the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>

namespace addnorm::kernels {

struct GemmBlocks {
  std::size_t rows;     // of C
  std::size_t columns;  // of C
  std::size_t depth;    // of k at a time
  bool packed;          // copy panels before multiplying
};

/// A block of C (kMaxRows x kMaxColumns), the panel of B it meets (kMaxDepth x kMaxColumns) and the block of A (kMaxRows x
/// kMaxDepth) take less than 1 MiB together: a second-level cache of that size, or 512 KiB and a core's share of the third level.
/// The machine is not asked, for the blocks decide on the order of sums and so on bits.
inline constexpr std::size_t kMaxRows = 128;
inline constexpr std::size_t kMaxColumns = 384;
inline constexpr std::size_t kMaxDepth = 384;
/// A transposed goes through the cache twice, as it is and as its copy: less depth keeps both beside B's panel.
inline constexpr std::size_t kMaxDepthTransposed = 256;
/// Fewer rows than this do not repay the copy of B.
inline constexpr std::size_t kThinRows = 48;
inline constexpr std::size_t kThinColumns = 128;

constexpr std::size_t parts_of(std::size_t total, std::size_t size) { return (total + size - 1) / size; }

/// The size of equal parts of at most `most`, rounded up to whole `unit`s.
constexpr std::size_t even_part(std::size_t total, std::size_t most, std::size_t unit) {
  if (total == 0) return unit;
  const std::size_t parts = parts_of(total, most);
  return parts_of(parts_of(total, parts), unit) * unit;
}

constexpr GemmBlocks gemm_blocks(std::size_t m, std::size_t n, std::size_t k, bool transpose_a) {
  if (m < kThinRows) return {m, std::min(n, kThinColumns), k, false};
  const std::size_t depth = even_part(k, transpose_a ? kMaxDepthTransposed : kMaxDepth, 16);
  // One row of blocks when there are few rows but many columns.
  if (m <= kMaxRows && n >= 2 * kThinColumns)
    return {m, even_part(n, std::max(kThinColumns, std::min(kMaxColumns, n / 4)), 16), depth, true};
  // Rows in a multiple of four blocks, so that two or four threads get equal shares of a single column of blocks; but not
  // below 32 rows, where a call of oneDNN no longer runs at speed.
  const std::size_t blocks = parts_of(parts_of(m, kMaxRows), 4) * 4;
  const std::size_t rows = std::max<std::size_t>(32, parts_of(parts_of(m, blocks), 8) * 8);
  return {rows, even_part(n, kMaxColumns, 16), depth, true};
}

}  // namespace addnorm::kernels
