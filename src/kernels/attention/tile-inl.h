// Tiles of attention, one copy per instruction set: the product kernel, packing, masks. Used by forward and backward.
//
// Scores are kept transposed: a panel holds some keys (rows) by kPanel queries (columns, two vectors). So softmax runs
// down the rows, vector by vector, without adding across lanes, and k and v enter every product as the operand whose
// elements are broadcast one by one: they are read in place, whatever their strides and widths.
#if defined(ADDNORM_KERNELS_ATTENTION_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_KERNELS_ATTENTION_TILE_INL_H_
#undef ADDNORM_KERNELS_ATTENTION_TILE_INL_H_
#else
#define ADDNORM_KERNELS_ATTENTION_TILE_INL_H_
#endif

#include <algorithm>
#include <limits>

#include "hwy/highway.h"
#include "kernels/attention/plan.h"
#include "kernels/elementwise/activations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace attention {
namespace hn = hwy::HWY_NAMESPACE;
using namespace addnorm::kernels::attention;  // NOLINT: the plan, which is the same for every instruction set

using D = hn::CappedTag<float, kMaxPanel / 2>;
using V = hn::Vec<D>;
constexpr size_t kLanes = hn::MaxLanes(D());
constexpr size_t kPanel = 2 * kLanes;  // columns of a panel
constexpr size_t kGroup = 6;           // rows of the product kernel: 6 x 2 sums fill 12 of the 16 registers of AVX2
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// How the left operand lies in memory: element (row, step) at a[row * stride + step] or at a[step * stride + row].
enum class Left { by_rows, by_steps };

/// c [R, kPanel] = (c if add) + a [R, depth] b [depth, kPanel].
template <size_t R, Left kLeft>
HWY_INLINE void multiply_group(const float* HWY_RESTRICT a, size_t stride, const float* HWY_RESTRICT b, size_t ldb, size_t depth,
                               bool add, float* HWY_RESTRICT c, size_t ldc) {
  const D d;
  V sum[R][2];
#pragma GCC unroll 6
  for (size_t r = 0; r < R; ++r) {
    sum[r][0] = add ? hn::LoadU(d, c + r * ldc) : hn::Zero(d);
    sum[r][1] = add ? hn::LoadU(d, c + r * ldc + kLanes) : hn::Zero(d);
  }
  const size_t row = kLeft == Left::by_rows ? stride : 1;
  const size_t step = kLeft == Left::by_rows ? 1 : stride;
  for (size_t k = 0; k < depth; ++k) {
    const V b0 = hn::LoadU(d, b);
    const V b1 = hn::LoadU(d, b + kLanes);
#pragma GCC unroll 6
    for (size_t r = 0; r < R; ++r) {
      const V factor = hn::Set(d, a[r * row]);
      sum[r][0] = hn::MulAdd(factor, b0, sum[r][0]);
      sum[r][1] = hn::MulAdd(factor, b1, sum[r][1]);
    }
    a += step;
    b += ldb;
  }
#pragma GCC unroll 6
  for (size_t r = 0; r < R; ++r) {
    hn::StoreU(sum[r][0], d, c + r * ldc);
    hn::StoreU(sum[r][1], d, c + r * ldc + kLanes);
  }
}

/// The same for 0 to kGroup rows.
template <Left kLeft>
HWY_INLINE void multiply_few(size_t rows, const float* a, size_t stride, const float* b, size_t ldb, size_t depth, bool add,
                             float* c, size_t ldc) {
  switch (rows) {
    case 0:
      return;
    case 1:
      return multiply_group<1, kLeft>(a, stride, b, ldb, depth, add, c, ldc);
    case 2:
      return multiply_group<2, kLeft>(a, stride, b, ldb, depth, add, c, ldc);
    case 3:
      return multiply_group<3, kLeft>(a, stride, b, ldb, depth, add, c, ldc);
    case 4:
      return multiply_group<4, kLeft>(a, stride, b, ldb, depth, add, c, ldc);
    case 5:
      return multiply_group<5, kLeft>(a, stride, b, ldb, depth, add, c, ldc);
    default:
      return multiply_group<6, kLeft>(a, stride, b, ldb, depth, add, c, ldc);
  }
}

/// c [rows, kPanel] = (c if add) + a [rows, depth] b [depth, kPanel].
template <Left kLeft>
HWY_NOINLINE void multiply_panel(size_t rows, const float* a, size_t stride, const float* b, size_t ldb, size_t depth, bool add,
                                 float* c, size_t ldc) {
  const size_t group = kLeft == Left::by_rows ? kGroup * stride : kGroup;
  for (; rows > kGroup; rows -= kGroup, a += group, c += kGroup * ldc)
    multiply_group<kGroup, kLeft>(a, stride, b, ldb, depth, add, c, ldc);
  multiply_few<kLeft>(rows, a, stride, b, ldb, depth, add, c, ldc);
}

/// y[c * ldy + r] = factor * x[r * ldx + c] for r < rows, c < columns.
inline void transpose(const float* x, size_t ldx, size_t rows, size_t columns, float factor, float* y, size_t ldy) {
  size_t r = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 4> d;  // blocks of 4 x 4
  const auto scale = hn::Set(d, factor);
  for (; r + 4 <= rows; r += 4) {
    size_t c = 0;
    for (; c + 4 <= columns; c += 4) {
      const float* from = x + r * ldx + c;
      const auto x0 = hn::Mul(scale, hn::LoadU(d, from)), x1 = hn::Mul(scale, hn::LoadU(d, from + ldx));
      const auto x2 = hn::Mul(scale, hn::LoadU(d, from + 2 * ldx)), x3 = hn::Mul(scale, hn::LoadU(d, from + 3 * ldx));
      const auto low01 = hn::InterleaveLower(d, x0, x1), low23 = hn::InterleaveLower(d, x2, x3);
      const auto high01 = hn::InterleaveUpper(d, x0, x1), high23 = hn::InterleaveUpper(d, x2, x3);
      float* to = y + c * ldy + r;
      hn::StoreU(hn::ConcatLowerLower(d, low23, low01), d, to);
      hn::StoreU(hn::ConcatUpperUpper(d, low23, low01), d, to + ldy);
      hn::StoreU(hn::ConcatLowerLower(d, high23, high01), d, to + 2 * ldy);
      hn::StoreU(hn::ConcatUpperUpper(d, high23, high01), d, to + 3 * ldy);
    }
    for (; c < columns; ++c)
      for (size_t k = 0; k < 4; ++k) y[c * ldy + r + k] = factor * x[(r + k) * ldx + c];
  }
#endif
  for (; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) y[c * ldy + r] = factor * x[r * ldx + c];
}

/// Rows of a tile as the columns of panels [row / kPanel][width][kPanel]; the last panel is filled up with zeros.
inline void pack_columns(const float* x, size_t stride, size_t rows, size_t width, float factor, float* panels) {
  for (size_t r = 0; r < rows; r += kPanel, panels += width * kPanel) {
    const size_t here = std::min(kPanel, rows - r);
    transpose(x + r * stride, stride, here, width, factor, panels, kPanel);
    for (size_t c = 0; here < kPanel && c < width; ++c) std::fill(panels + c * kPanel + here, panels + (c + 1) * kPanel, 0.0f);
  }
}

/// Rows of a tile cut into panels [column / kPanel][kTileQueries][kPanel]; the last panel is filled up with zeros.
inline void pack_rows(const float* x, size_t stride, size_t rows, size_t width, float factor, float* panels) {
  const D d;
  const V scale = hn::Set(d, factor);
  for (size_t c = 0; c < width; c += kPanel, panels += kTileQueries * kPanel)
    for (size_t r = 0; r < rows; ++r) {
      const float* from = x + r * stride + c;
      float* to = panels + r * kPanel;
      if (width - c >= kPanel) {
        hn::StoreU(hn::Mul(scale, hn::LoadU(d, from)), d, to);
        hn::StoreU(hn::Mul(scale, hn::LoadU(d, from + kLanes)), d, to + kLanes);
      } else {
        for (size_t k = 0; k < kPanel; ++k) to[k] = k < width - c ? factor * from[k] : 0.0f;
      }
    }
}

/// What the queries of a panel may see of a tile of keys.
struct Visible {
  size_t rows;           // keys from here on are seen by none of them
  size_t full;           // keys before it are seen by all, masks apart
  std::ptrdiff_t first;  // key `r` of the tile is seen from lane r + first on
  const float* mask;     // [rows, kPanel], added to the scores; null: nothing to add
};

/// Keys [j, end) as seen by queries [i, i + queries) of a panel; `mask` is where the mask tile will be, if there is one.
inline Visible visible_keys(const AttentionArgs& a, size_t b, size_t i, size_t queries, size_t j, size_t end, const float* mask) {
  const size_t first = keys_seen(a, b, i, end), last = keys_seen(a, b, i + queries - 1, end);
  Visible visible{};
  visible.rows = last > j ? last - j : 0;
  visible.full = first > j ? first - j : 0;
  visible.first = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i) - clamped_offset(a, b);
  visible.mask = has_mask(a) ? mask : nullptr;
  return visible;
}

/// Row r, half h (0, 1) of the scores as softmax sees them: with the mask added and -inf where nothing may be seen.
HWY_INLINE V masked_score(V s, const Visible& visible, size_t r, size_t half) {
  const D d;
  const V nothing = hn::Set(d, kMinusInfinity);
  if (visible.mask != nullptr) {
    const V mask = hn::LoadU(d, visible.mask + r * kPanel + half * kLanes);
    s = hn::IfThenElse(hn::Eq(mask, nothing), nothing, hn::Add(s, mask));
  }
  if (r >= visible.full) {
    const V from = hn::Set(d, static_cast<float>(static_cast<std::ptrdiff_t>(r) + visible.first));
    s = hn::IfThenElse(hn::Ge(hn::Iota(d, static_cast<float>(half * kLanes)), from), s, nothing);
  }
  return s;
}

/// s = cap * tanh(s / cap) over a panel of scores.
inline void softcap_panel(size_t rows, float cap, float* s, size_t lds) {
  const D d;
  const V inverse = hn::Set(d, 1.0f / cap), height = hn::Set(d, cap);
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < kPanel; c += kLanes) {
      float* at = s + r * lds + c;
      hn::StoreU(hn::Mul(height, Tanh::value(d, hn::Mul(inverse, hn::LoadU(d, at)))), d, at);
    }
}

}  // namespace attention
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
