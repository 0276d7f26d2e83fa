// The parts of a product: how it is cut into blocks, copies of panels, and what is computed for a block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "kernels/elementwise/activations.h"

namespace addnorm::kernels {

// How a product is cut: it follows from m, n, k and which operand is transposed, never from the number of threads.

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

// Copies of parts of a matrix into compact buffers.

/// y[r * ldy + c] = x[r * ldx + c]
void copy_panel(const float* x, std::size_t ldx, std::size_t rows, std::size_t columns, float* y, std::size_t ldy);
/// y[c * ldy + r] = x[r * ldx + c]
void transpose_panel(const float* x, std::size_t ldx, std::size_t rows, std::size_t columns, float* y, std::size_t ldy);

// C [m, n] = A [m, k] * B^T for one to four rows: what decoding does with every weight [out, in].

inline constexpr std::size_t kFewRows = 4;

/// c[i, j] = alpha * dot(a[i], b[j]), plus what c holds when `add`; m <= kFewRows. Reads B once; on the calling thread.
/// An element's bits do not depend on m.
void few_rows_block(const float* a, std::size_t lda, const float* b, std::size_t ldb, std::size_t m, std::size_t n, std::size_t k,
                    float alpha, bool add, float* c, std::size_t ldc);

// A tile of a product with a packed weight; the same for every instruction set.

inline constexpr std::size_t kMostColumnsOfPanel = 32;

/// c [rows, columns] = (c if add) + a [rows, depth] panel [depth, columns], columns being those of a panel. While it works it
/// asks for lines of the panel that comes next, `at_once` of them every sixteen steps.
struct PackedTile {
  const float* a;
  std::size_t lda;
  const float* panel;
  std::size_t depth;
  bool add;
  float* c;
  std::size_t ldc;
  const float* next;
  std::size_t at_once = 0;
};

// What is done to a block of C after its product, while it is in cache.

/// pre = old + product + bias, c = activation(pre) for a block [rows, columns]. `product` may be c itself.
struct EpilogueArgs {
  std::size_t rows = 0, columns = 0;
  const float* product = nullptr;
  std::size_t ldp = 0;
  bool add = false;             ///< whether c holds old values to add to
  const float* bias = nullptr;  ///< [columns]; null: none
  std::optional<ActivationKind> activation{};
  float* pre = nullptr;  ///< null: not wanted
  std::size_t ldpre = 0;
  float* c = nullptr;
  std::size_t ldc = 0;
};
void gemm_epilogue(const EpilogueArgs& args);

}  // namespace addnorm::kernels
