#include "kernels/gemm/packed.h"

#include <algorithm>

#include "addnorm/core/parallel.h"
#include "kernels/gemm/parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/packed.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/gemm/packed_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {

size_t columns_of_panel() { return packed::kColumns; }

/// multiply_tile<rows>, 1 to R of them.
template <size_t R>
HWY_INLINE void multiply_rows(size_t rows, const PackedTile& tile) {
  if constexpr (R > 1)
    if (rows < R) return multiply_rows<R - 1>(rows, tile);
  packed::multiply_tile<R>(tile);
}

/// `rows` rows of A meet one panel, in tiles of nearly equal height: a last tile of one or two rows would leave the arithmetic
/// units waiting. `tile` is the first. Each fetches its share of the panel that comes next, so that memory is asked evenly.
void multiply_panel_rows(size_t rows, PackedTile tile) {
  const size_t tiles = (rows + packed::kRows - 1) / packed::kRows;
  for (size_t i = 0; i < tiles; ++i) {
    const size_t here = rows / tiles + (i < rows % tiles ? 1 : 0);
    tile.at_once = packed::kLines / tiles + (i < packed::kLines % tiles ? 1 : 0);
    multiply_rows<packed::kRows>(here, tile);
    tile.next += tile.depth / packed::kUnrolled * tile.at_once * packed::kFloatsPerLine;
    tile.a += here * tile.lda;
    tile.c += here * tile.ldc;
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(multiply_panel_rows);
HWY_EXPORT(columns_of_panel);

/// A block of A (rows x depth) stays in the second cache while all panels pass by; a panel of that depth in the first.
constexpr std::size_t kBlockRows = 96;
constexpr std::size_t kBlockDepth = 384;
/// Up to here threads share the columns, so that each reads a part of W; from here on rows, and each finds its rows of A in its
/// own cache.
constexpr std::size_t kRowsForColumns = 192;
/// This many columns wait for bias and activation together: along longer rows the latter take two thirds of the time, and what is
/// waiting is still in the second cache.
constexpr std::size_t kColumnsFinished = 192;

/// The arguments, with what follows from them.
struct Product : PackedGemm {
  std::size_t columns = panel_columns();
  std::size_t depth = even_part(k, kBlockDepth, 8);

  explicit Product(const PackedGemm& args) : PackedGemm(args) {
    if (lda == 0) lda = k;
    if (ldc == 0) ldc = n;
  }
  /// Steps [p, p + depth) of a panel.
  const float* panel(std::size_t j, std::size_t p) const { return packed + j * columns * k + p * columns; }
};

/// Rows [i, i + rows) and panels [j, end_j) of C.
struct ProductPart {
  std::size_t i, rows, j, end_j;
};

/// Rows of A, steps [p, p + depth) of k, meet panel j; `product` [rows, ldp] is where its columns of C are gathered.
void multiply(const Product& g, const ProductPart& part, std::size_t j, std::size_t p, float* product, std::size_t ldp) {
  HWY_DYNAMIC_DISPATCH(multiply_panel_rows)
  (part.rows, {.a = g.a + part.i * g.lda + p,
               .lda = g.lda,
               .panel = g.panel(j, p),
               .depth = std::min(g.depth, g.k - p),
               .add = p > 0,
               .c = product,
               .ldc = ldp,
               .next = g.panel(j + 1 < part.end_j ? j + 1 : j, p)});
}

void finish(const Product& g, const ProductPart& part, std::size_t column, std::size_t columns, const float* product,
            std::size_t ldp) {
  gemm_epilogue({.rows = part.rows,
                 .columns = columns,
                 .product = product,
                 .ldp = ldp,
                 .bias = g.bias == nullptr ? nullptr : g.bias + column,
                 .activation = g.activation,
                 .c = g.c + part.i * g.ldc + column,
                 .ldc = g.ldc});
}

/// The last panel, which ends beyond the last column of C: its sums are gathered elsewhere, and copied.
void compute_edge(const Product& g, const ProductPart& part, std::size_t j) {
  float sums[kBlockRows * kMostColumnsOfPanel];
  for (std::size_t p = 0; p == 0 || p < g.k; p += g.depth) multiply(g, part, j, p, sums, g.columns);
  finish(g, part, j * g.columns, g.n - j * g.columns, sums, g.columns);
}

/// At most kBlockRows rows.
void compute_block(const Product& g, const ProductPart& part) {
  const bool has_epilogue = g.bias != nullptr || g.activation;
  const std::size_t whole = std::min(part.end_j, g.n / g.columns);  // panels before it end within C
  for (std::size_t p = 0; p == 0 || p < g.k; p += g.depth) {        // once for k = 0 too
    const bool last = p + g.depth >= g.k;
    float* const c = g.c + part.i * g.ldc;
    std::size_t waiting = part.j;  // the first panel without its bias
    for (std::size_t j = part.j; j < whole; ++j) {
      multiply(g, part, j, p, c + j * g.columns, g.ldc);
      const std::size_t column = waiting * g.columns, columns = (j + 1 - waiting) * g.columns;
      if (!last || !has_epilogue || (columns < kColumnsFinished && j + 1 < whole)) continue;
      finish(g, part, column, columns, c + column, g.ldc);
      waiting = j + 1;
    }
  }
  if (whole < part.end_j) compute_edge(g, part, whole);
}

void compute_part(const Product& g, const ProductPart& part) {
  const std::size_t block = even_part(part.rows, kBlockRows, 1);
  for (std::size_t done = 0; done < part.rows; done += block)
    compute_block(g, {part.i + done, std::min(block, part.rows - done), part.j, part.end_j});
}

}  // namespace

std::size_t panel_columns() { return HWY_DYNAMIC_DISPATCH(columns_of_panel)(); }

void pack_weight(const float* w, std::size_t n, std::size_t k, float* packed) {
  const std::size_t columns = panel_columns();
  for (std::size_t j = 0; j < n; j += columns, packed += columns * k) {
    const std::size_t rows = std::min(columns, n - j);
    if (rows < columns) std::fill_n(packed, columns * k, 0.0f);
    transpose_panel(w + j * k, k, rows, k, packed, columns);
  }
}

void gemm_packed(const PackedGemm& args) {
  const Product g(args);
  if (g.m == 0 || g.n == 0) return;
  const std::size_t panels = parts_of(g.n, g.columns);
  const double multiplications = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  const std::size_t team = threads_worth(multiplications);
  const bool by_columns = g.m <= kRowsForColumns;
  const std::size_t across = std::min(panels, by_columns ? team : parts_of(team, g.m));
  const std::size_t down = std::min(g.m, parts_of(team, across));
  parallel_blocks(across * down, [&](std::size_t part) {
    const std::size_t row = part / across, column = part % across, begin = g.m * row / down;
    compute_part(g, {begin, g.m * (row + 1) / down - begin, panels * column / across, panels * (column + 1) / across});
  });
}

}  // namespace addnorm::kernels
#endif
