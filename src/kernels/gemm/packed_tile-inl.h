// A few rows of A meet a panel of packed weights, one copy per instruction set: how wide a panel is, and the multiply-add loop.
#if defined(ADDNORM_KERNELS_GEMM_PACKED_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_KERNELS_GEMM_PACKED_TILE_INL_H_
#undef ADDNORM_KERNELS_GEMM_PACKED_TILE_INL_H_
#else
#define ADDNORM_KERNELS_GEMM_PACKED_TILE_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/gemm/parts.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace packed {
namespace hn = hwy::HWY_NAMESPACE;

// The wider the panel, the fewer elements of A are loaded for it, and the fewer rows have their sums in registers: 4 x 24 needs
// the fewest instructions with 16 registers of 8 floats. 12 x 32 of AVX-512 is by the count of its 32 registers, not measured.
#if HWY_TARGET == HWY_AVX2
constexpr size_t kColumns = 24, kSums = 12;
#elif HWY_TARGET <= HWY_AVX3
constexpr size_t kColumns = 32, kSums = 24;
#else
constexpr size_t kColumns = 16, kSums = 12;
#endif
static_assert(kColumns <= kMostColumnsOfPanel);
using D = hn::CappedTag<float, kColumns == 24 ? 8 : kColumns>;
using V = hn::Vec<D>;
constexpr size_t kLanes = hn::MaxLanes(D());
constexpr size_t kVectors = kColumns / kLanes;
/// Rows of A that meet a panel at once.
constexpr size_t kRows = kVectors > kSums ? 1 : kSums / kVectors;
/// Steps along k at a time: eight are 5 to 12 % slower, and from 24 on it is slower again (bench/README.md, 8).
constexpr size_t kUnrolled = 16;
constexpr size_t kFloatsPerLine = 16;
/// Lines of a panel that this many steps read.
constexpr size_t kLines = kUnrolled * kColumns / kFloatsPerLine;

/// Keeps the compiler from deriving a pointer of its own for each row, every one to be advanced in the loop.
HWY_INLINE void forget_origin(const float*& first, const float*& second, size_t& stride) {
  asm("" : "+r"(first), "+r"(second), "+r"(stride));
}

/// Rows of a tile are addressed from two pointers: first + 0, 1, 2 strides, second + 0, 1, 2 ...
constexpr size_t kRowsOfFirst = 3;

/// sum [R, kColumns] += a [R, 1] panel [1, kColumns]; row r of a is first + r lda, or second + (r - kRowsOfFirst) lda.
template <size_t R>
HWY_INLINE void multiply_step(const float* first, const float* second, size_t lda, const float* HWY_RESTRICT panel,
                              V (&sum)[R][kVectors]) {
  const D d;
  V b[kVectors];
#pragma GCC unroll 16
  for (size_t v = 0; v < kVectors; ++v) b[v] = hn::LoadU(d, panel + v * kLanes);
#pragma GCC unroll 12
  for (size_t r = 0; r < R; ++r) {
    const V factor = hn::Set(d, r < kRowsOfFirst ? first[r * lda] : second[(r - kRowsOfFirst) * lda]);
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(factor, b[v], sum[r][v]);
  }
}

/// The product is summed by itself first, then added.
template <size_t R>
HWY_INLINE void multiply_tile(PackedTile t) {
  const D d;
  V sum[R][kVectors];
#pragma GCC unroll 12
  for (size_t r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  const float* second = t.a + (R > kRowsOfFirst ? kRowsOfFirst * t.lda : 0);
  size_t left = t.depth;
  for (; left >= kUnrolled; left -= kUnrolled) {
    for (size_t i = 0; i < t.at_once; ++i, t.next += kFloatsPerLine) __builtin_prefetch(t.next, 0, 2);
#pragma GCC unroll 16
    for (size_t i = 0; i < kUnrolled; ++i) multiply_step<R>(t.a + i, second + i, t.lda, t.panel + i * kColumns, sum);
    t.a += kUnrolled;
    second += kUnrolled;
    t.panel += kUnrolled * kColumns;
    forget_origin(t.a, second, t.lda);
  }
  for (; left > 0; --left, ++t.a, ++second, t.panel += kColumns) multiply_step<R>(t.a, second, t.lda, t.panel, sum);
#pragma GCC unroll 12
  for (size_t r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      float* at = t.c + r * t.ldc + v * kLanes;
      hn::StoreU(t.add ? hn::Add(hn::LoadU(d, at), sum[r][v]) : sum[r][v], d, at);
    }
}

}  // namespace packed
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
