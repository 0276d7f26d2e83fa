#include <cmath>

#include "addnorm/core/parallel.h"
#include "kernels/attention/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/forward.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/attention/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace attention {
namespace {

/// Scratch of one worker; what a tile of queries has gathered so far. Panels as in tile-inl.h.
struct ForwardTile {
  float* q;     // [panel][d_head][kPanel], scaled
  float* o;     // [panel][d_value][kPanel], the sum of p v so far, p relative to `largest`
  float* p;     // [kTileKeys, kPanel], scores and then probabilities of the panel at hand
  float* mask;  // [kTileKeys, kPanel]
  HWY_ALIGN float largest[kTileQueries];
  HWY_ALIGN float sum[kTileQueries];

  ForwardTile(const AttentionArgs& a, float* scratch)
      : q(scratch), o(q + kTileQueries * a.d_head), p(o + kTileQueries * a.d_value), mask(p + kTileKeys * kMaxPanel) {}
};

/// The larger of `largest` and all visible scores of one half of a panel; scores are replaced by what softmax sees.
HWY_INLINE V largest_score(const Visible& visible, size_t half, float* s, V largest) {
  const D d;
  s += half * kLanes;
  const size_t plain = visible.mask == nullptr ? visible.full : 0;
  V other = largest;  // two chains hide the latency of the comparison
  size_t r = 0;
  for (; r + 2 <= plain; r += 2) {
    largest = hn::Max(largest, hn::LoadU(d, s + r * kPanel));
    other = hn::Max(other, hn::LoadU(d, s + (r + 1) * kPanel));
  }
  for (; r < visible.rows; ++r) {
    const V score = masked_score(hn::LoadU(d, s + r * kPanel), visible, r, half);
    hn::StoreU(score, d, s + r * kPanel);
    largest = hn::Max(largest, score);
  }
  return hn::Max(largest, other);
}

/// s becomes p = exp(s - largest) for one half of a panel; returns the sums over the rows.
HWY_INLINE V exponentials(size_t rows, V largest, float* s) {
  const D d;
  V sum = hn::Zero(d);
  for (size_t r = 0; r < rows; ++r) {
    const V p = exp_or_zero(d, hn::Sub(hn::LoadU(d, s + r * kPanel), largest));
    hn::StoreU(p, d, s + r * kPanel);
    sum = hn::Add(sum, p);
  }
  return sum;
}

/// The online softmax of one half of a panel: scores to probabilities, and what was gathered is brought to the new
/// largest score.
HWY_INLINE void softmax_half(const Visible& visible, size_t half, size_t d_value, float* s, float* o, float* largest,
                             float* sum) {
  const D d;
  const V before = hn::LoadU(d, largest);
  const V now = largest_score(visible, half, s, before);
  // A query that has seen nothing yet stays at -inf; exp(-inf - 0) = 0 is what it gathers, exp(-inf + inf) would be NaN.
  const V reference = hn::IfThenElse(hn::Eq(now, hn::Set(d, kMinusInfinity)), hn::Zero(d), now);
  const V added = exponentials(visible.rows, reference, s + half * kLanes);
  if (hn::AllTrue(d, hn::Eq(before, now))) {
    hn::StoreU(hn::Add(hn::LoadU(d, sum), added), d, sum);
    return;
  }
  const V shrink = exp_or_zero(d, hn::Sub(before, reference));
  hn::StoreU(now, d, largest);
  hn::StoreU(hn::MulAdd(hn::LoadU(d, sum), shrink, added), d, sum);
  for (size_t c = 0; c < d_value; ++c) {
    float* at = o + c * kPanel + half * kLanes;
    hn::StoreU(hn::Mul(hn::LoadU(d, at), shrink), d, at);
  }
}

/// Divides by the sums, writes o and lse of `queries` queries from i on.
void finish(const AttentionArgs& a, size_t b, size_t h, size_t i, size_t queries, ForwardTile& tile) {
  const D d;
  for (size_t c = 0; c < queries; c += kPanel) {
    float* o = tile.o + c * a.d_value;
    for (size_t half = 0; half < kPanel; half += kLanes) {
      const V sum = hn::LoadU(d, tile.sum + c + half);
      const V nothing = hn::Zero(d);
      const V factor = hn::IfThenElse(hn::Eq(sum, nothing), nothing, hn::Div(hn::Set(d, 1.0f), sum));
      for (size_t r = 0; r < a.d_value; ++r) {
        float* at = o + r * kPanel + half;
        hn::StoreU(hn::Mul(hn::LoadU(d, at), factor), d, at);
      }
    }
    transpose(o, kPanel, a.d_value, std::min(kPanel, queries - c), 1.0f, a.o.at(b, i + c, h), a.o.row);
  }
  for (size_t c = 0; a.lse != nullptr && c < queries; ++c)
    a.lse[(b * a.heads + h) * a.queries + i + c] =
        static_cast<double>(tile.largest[c]) + static_cast<double>(std::log(tile.sum[c]));
}

/// Queries [i, i + kTileQueries) of one head, all their keys.
void forward_tile(const AttentionArgs& a, size_t b, size_t h, size_t i, float* scratch) {
  ForwardTile tile(a, scratch);
  const size_t queries = std::min(kTileQueries, query_count(a, b) - i), keys = key_count(a, b);
  const size_t kv_head = h / (a.heads / a.kv_heads);
  pack_columns(a.q.at(b, i, h), a.q.row, queries, a.d_head, a.scale, tile.q);
  std::fill_n(tile.o, round_up(queries, kPanel) * a.d_value, 0.0f);
  std::fill_n(tile.largest, kTileQueries, kMinusInfinity);
  std::fill_n(tile.sum, kTileQueries, 0.0f);

  const size_t all_seen = keys_seen(a, b, i + queries - 1, keys);
  for (size_t j = 0; j < all_seen; j += kTileKeys) {
    const size_t end = std::min(j + kTileKeys, keys);
    for (size_t c = 0; c < queries; c += kPanel) {
      const size_t here = std::min(kPanel, queries - c);
      const Visible visible = visible_keys(a, b, i + c, here, j, end, tile.mask);
      if (visible.rows == 0) continue;
      if (has_mask(a) && !mask_tile(a, b, h, i + c, here, j, visible.rows, kPanel, tile.mask)) continue;
      multiply_panel<Left::by_rows>(visible.rows, a.k.at(b, j, kv_head), a.k.row, tile.q + c * a.d_head, kPanel, a.d_head, false,
                                    tile.p, kPanel);
      if (a.softcap != 0) softcap_panel(visible.rows, a.softcap, tile.p, kPanel);
      float* o = tile.o + c * a.d_value;
      for (size_t half = 0; half < 2; ++half)
        softmax_half(visible, half, a.d_value, tile.p, o, tile.largest + c + half * kLanes, tile.sum + c + half * kLanes);
      multiply_panel<Left::by_steps>(a.d_value, a.v.at(b, j, kv_head), a.v.row, tile.p, kPanel, visible.rows, true, o, kPanel);
    }
  }
  finish(a, b, h, i, queries, tile);
}

}  // namespace
}  // namespace attention

void attention_forward_tile(const AttentionArgs& a, size_t b, size_t h, size_t i, float* scratch) {
  attention::forward_tile(a, b, h, i, scratch);
}

}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(attention_forward_tile);

std::size_t forward_floats(const AttentionArgs& a) {
  using namespace attention;
  const std::size_t tile = kTileQueries * (a.d_head + a.d_value) + 2 * kTileKeys * kMaxPanel;  // ForwardTile
  return std::max(tile, few_queries_floats(a));
}
std::size_t forward_team(const AttentionArgs& a) { return threads_worth(attention_multiplications(a)); }
}  // namespace

std::size_t attention_forward_scratch(const AttentionArgs& a) { return forward_floats(a) * forward_team(a); }

void attention_forward(const AttentionArgs& a) {
  const std::size_t tiles = (a.queries + attention::kTileQueries - 1) / attention::kTileQueries;
  parallel_tasks(a.batch * a.heads * tiles, forward_team(a), [&](std::size_t task, std::size_t worker) {
    const std::size_t b = task / tiles / a.heads, h = task / tiles % a.heads;
    const std::size_t tile = tiles - 1 - task % tiles;  // the last queries see the most keys: first, so that the end is even
    const std::size_t i = tile * attention::kTileQueries;
    float* scratch = a.scratch + worker * forward_floats(a);
    if (i >= query_count(a, b)) return;  // a shorter sequence than others
    if (has_few_queries(a, b)) return attention_few_queries(a, b, h, scratch);
    HWY_DYNAMIC_DISPATCH(attention_forward_tile)(a, b, h, i, scratch);
  });
}

}  // namespace addnorm::kernels
#endif
