#include "kernels/gemm/packed.h"

#include <algorithm>

#include "addnorm/core/parallel.h"
#include "kernels/gemm/blocks.h"
#include "kernels/gemm/epilogue.h"
#include "kernels/gemm/panels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/packed.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using PanelTag = hn::CappedTag<float, kPanelColumns>;
using PanelVec = hn::Vec<PanelTag>;
constexpr size_t kPanelLanes = hn::MaxLanes(PanelTag());
constexpr size_t kPanelVectors = kPanelColumns / kPanelLanes;
/// Rows of A that meet a panel at once: 12 vectors of sums, of the 16 registers of AVX2 and SSE.
constexpr size_t kTileRows = kPanelVectors > 12 ? 1 : 12 / kPanelVectors;
/// Steps along k at a time: eight are 5 to 12 % slower, and from 24 on it is slower again (bench/README.md, 8).
constexpr size_t kUnrolled = 16;

/// Keeps the compiler from deriving a pointer of its own for each row, every one to be advanced in the loop.
HWY_INLINE void forget_origin(const float*& first, const float*& second, size_t& stride) {
  asm("" : "+r"(first), "+r"(second), "+r"(stride));
}

/// Rows of a tile are addressed from two pointers: first + 0, 1, 2 strides, second + 0, 1, 2.
constexpr size_t kRowsOfFirst = 3;

/// sum [R, 16] += a [R, 1] panel [1, 16]; row r of a is first + r lda, or second + (r - kRowsOfFirst) lda.
template <size_t R>
HWY_INLINE void multiply_step(const float* first, const float* second, size_t lda, const float* HWY_RESTRICT panel,
                              PanelVec (&sum)[R][kPanelVectors]) {
  const PanelTag d;
  PanelVec b[kPanelVectors];
#pragma GCC unroll 16
  for (size_t v = 0; v < kPanelVectors; ++v) b[v] = hn::LoadU(d, panel + v * kPanelLanes);
#pragma GCC unroll 12
  for (size_t r = 0; r < R; ++r) {
    const PanelVec factor = hn::Set(d, r < kRowsOfFirst ? first[r * lda] : second[(r - kRowsOfFirst) * lda]);
#pragma GCC unroll 16
    for (size_t v = 0; v < kPanelVectors; ++v) sum[r][v] = hn::MulAdd(factor, b[v], sum[r][v]);
  }
}

/// Lines of the panel that comes next, which a tile asks for while it works: `at_once` of them every kUnrolled steps.
struct Ahead {
  const float* line;
  size_t at_once;

  HWY_INLINE void fetch() {
    for (size_t i = 0; i < at_once; ++i, line += kPanelColumns) __builtin_prefetch(line, 0, 2);
  }
};

/// c [R, 16] = (c if add) + a [R, depth] panel [depth, 16]; the product is summed by itself first.
template <size_t R>
HWY_INLINE void multiply_tile(const float* a, size_t lda, const float* HWY_RESTRICT panel, size_t depth, Ahead ahead, bool add,
                              float* HWY_RESTRICT c, size_t ldc) {
  const PanelTag d;
  PanelVec sum[R][kPanelVectors];
#pragma GCC unroll 12
  for (size_t r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (size_t v = 0; v < kPanelVectors; ++v) sum[r][v] = hn::Zero(d);
  const float* second = a + (R > kRowsOfFirst ? kRowsOfFirst * lda : 0);
  size_t left = depth;
  for (; left >= kUnrolled; left -= kUnrolled) {
    ahead.fetch();
#pragma GCC unroll 16
    for (size_t i = 0; i < kUnrolled; ++i) multiply_step<R>(a + i, second + i, lda, panel + i * kPanelColumns, sum);
    a += kUnrolled;
    second += kUnrolled;
    panel += kUnrolled * kPanelColumns;
    forget_origin(a, second, lda);
  }
  for (; left > 0; --left, ++a, ++second, panel += kPanelColumns) multiply_step<R>(a, second, lda, panel, sum);
#pragma GCC unroll 12
  for (size_t r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (size_t v = 0; v < kPanelVectors; ++v) {
      float* at = c + r * ldc + v * kPanelLanes;
      hn::StoreU(add ? hn::Add(hn::LoadU(d, at), sum[r][v]) : sum[r][v], d, at);
    }
}

/// The same for 1 to R rows.
template <size_t R>
HWY_INLINE void multiply_rows(size_t rows, const float* a, size_t lda, const float* panel, size_t depth, const Ahead& ahead,
                              bool add, float* c, size_t ldc) {
  if constexpr (R > 1)
    if (rows < R) return multiply_rows<R - 1>(rows, a, lda, panel, depth, ahead, add, c, ldc);
  multiply_tile<R>(a, lda, panel, depth, ahead, add, c, ldc);
}

/// `rows` rows of A meet one panel, in tiles of nearly equal height: a last tile of one or two rows would leave the arithmetic
/// units waiting. Each tile fetches its share of the panel that comes `next`, so that memory is asked evenly.
void multiply_panel_rows(size_t rows, const float* a, size_t lda, const float* panel, size_t depth, const float* next, bool add,
                         float* c, size_t ldc) {
  const size_t tiles = (rows + kTileRows - 1) / kTileRows;
  for (size_t tile = 0; tile < tiles; ++tile) {
    const size_t here = rows / tiles + (tile < rows % tiles ? 1 : 0);
    const size_t at_once = kUnrolled / tiles + (tile < kUnrolled % tiles ? 1 : 0);  // all tiles: a line for each step
    multiply_rows<kTileRows>(here, a, lda, panel, depth, {next, at_once}, add, c, ldc);
    next += depth / kUnrolled * at_once * kPanelColumns;
    a += here * lda;
    c += here * ldc;
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(multiply_panel_rows);

/// A block of A (rows x depth) stays in the second cache while all panels pass by; a panel of that depth in the first.
constexpr std::size_t kBlockRows = 96;
constexpr std::size_t kBlockDepth = 384;
/// Up to here threads share the columns, so that each reads a part of W; from here on rows, and each finds its rows of A in its
/// own cache.
constexpr std::size_t kRowsForColumns = 192;

/// So many panels wait for bias and activation together: along longer rows the latter take two thirds of the time, and what is
/// waiting is still in the second cache.
constexpr std::size_t kFinishedTogether = 12;

/// A part of C: rows [i, end_i), panels [j, end_j).
struct Part {
  std::size_t i, end_i, j, end_j;
};

void finish(const PackedGemm& g, std::size_t i, std::size_t rows, std::size_t column, std::size_t columns, const float* product,
            std::size_t ldp) {
  gemm_epilogue({.rows = rows,
                 .columns = columns,
                 .product = product,
                 .ldp = ldp,
                 .bias = g.bias == nullptr ? nullptr : g.bias + column,
                 .activation = g.activation,
                 .c = g.c + i * g.ldc + column,
                 .ldc = g.ldc});
}

/// The last panel, which ends beyond the last column of C: its sums are gathered elsewhere, and copied.
void compute_edge(const PackedGemm& g, std::size_t i, std::size_t rows, std::size_t column, std::size_t depth) {
  float sums[kBlockRows * kPanelColumns];
  for (std::size_t p = 0; p == 0 || p < g.k; p += depth) {
    const float* w = g.packed + column * g.k + p * kPanelColumns;
    const std::size_t here = std::min(depth, g.k - p);
    HWY_DYNAMIC_DISPATCH(multiply_panel_rows)
    (rows, g.a + i * g.lda + p, g.lda, w, here, w, p > 0, sums, kPanelColumns);
  }
  finish(g, i, rows, column, g.n - column, sums, kPanelColumns);
}

/// Rows [i, i + rows) of a part of the columns.
void compute_block(const PackedGemm& g, std::size_t i, std::size_t rows, std::size_t j, std::size_t end_j, std::size_t depth) {
  const bool has_epilogue = g.bias != nullptr || g.activation;
  const std::size_t whole = std::min(end_j, g.n / kPanelColumns);  // panels before it end within C
  for (std::size_t p = 0; p == 0 || p < g.k; p += depth) {         // once for k = 0 too
    const std::size_t here = std::min(depth, g.k - p);
    const float* a = g.a + i * g.lda + p;
    std::size_t waiting = j;  // the first panel without its bias
    for (std::size_t panel = j; panel < whole; ++panel) {
      const float* w = g.packed + panel * kPanelColumns * g.k + p * kPanelColumns;
      const float* next = panel + 1 < end_j ? w + kPanelColumns * g.k : w;
      float* c = g.c + i * g.ldc;
      HWY_DYNAMIC_DISPATCH(multiply_panel_rows)(rows, a, g.lda, w, here, next, p > 0, c + panel * kPanelColumns, g.ldc);
      if (!has_epilogue || p + here < g.k || (panel + 1 < whole && panel + 1 - waiting < kFinishedTogether)) continue;
      const std::size_t column = waiting * kPanelColumns;
      finish(g, i, rows, column, (panel + 1 - waiting) * kPanelColumns, c + column, g.ldc);
      waiting = panel + 1;
    }
  }
  if (whole < end_j) compute_edge(g, i, rows, whole * kPanelColumns, depth);
}

void compute_part(const PackedGemm& g, const Part& part) {
  const std::size_t depth = even_part(g.k, kBlockDepth, 8);
  const std::size_t block = even_part(part.end_i - part.i, kBlockRows, 1);
  for (std::size_t i = part.i; i < part.end_i; i += block)
    compute_block(g, i, std::min(block, part.end_i - i), part.j, part.end_j, depth);
}

}  // namespace

void pack_weight(const float* w, std::size_t n, std::size_t k, float* packed) {
  for (std::size_t j = 0; j < n; j += kPanelColumns, packed += kPanelColumns * k) {
    const std::size_t rows = std::min(kPanelColumns, n - j);
    if (rows < kPanelColumns) std::fill_n(packed, kPanelColumns * k, 0.0f);
    transpose_panel(w + j * k, k, rows, k, packed, kPanelColumns);
  }
}

void gemm_packed(const PackedGemm& args) {
  PackedGemm g = args;
  if (g.lda == 0) g.lda = g.k;
  if (g.ldc == 0) g.ldc = g.n;
  if (g.m == 0 || g.n == 0) return;
  const std::size_t panels = parts_of(g.n, kPanelColumns);
  const double multiplications = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  const std::size_t team = threads_worth(multiplications);
  const bool by_columns = g.m <= kRowsForColumns;
  const std::size_t across = std::min(panels, by_columns ? team : parts_of(team, g.m));
  const std::size_t down = std::min(g.m, parts_of(team, across));
  parallel_blocks(across * down, [&](std::size_t part) {
    const std::size_t row = part / across, column = part % across;
    compute_part(g, {g.m * row / down, g.m * (row + 1) / down, panels * column / across, panels * (column + 1) / across});
  });
}

}  // namespace addnorm::kernels
#endif
