#include <cmath>

#include "addnorm/core/parallel.h"
#include "kernels/attention/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/backward.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/attention/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace attention {
namespace {

/// Scratch of one worker: one tile of queries in the forms the products want, and its meeting with one tile of keys.
struct BackwardTile {
  float* q_columns;                        // [panel][d_head][kPanel], scaled: right operand of s^T = k q^T
  float* do_columns;                       // [panel][d_value][kPanel]: right operand of dp^T = v do^T
  float* q_rows;                           // [panel][kTileQueries][kPanel], scaled: right operand of dk = ds^T q
  float* do_rows;                          // [panel][kTileQueries][kPanel]: right operand of dv = p^T do
  float* dq;                               // [panel][d_head][kPanel], summed over the keys
  float* p;                                // [kTileKeys, kTileQueries]: s^T, then p^T
  float* ds;                               // [kTileKeys, kTileQueries]: dp^T, then ds^T
  float* mask;                             // [kTileKeys, kPanel]
  HWY_ALIGN float lse_high[kTileQueries];  // lse in two floats, so that s - lse loses nothing at large s;
  HWY_ALIGN float lse_low[kTileQueries];   // +inf where the query saw nothing: p = 0
  HWY_ALIGN float delta[kTileQueries];     // do . o

  BackwardTile(const AttentionArgs& a, float* scratch)
      : q_columns(scratch),
        do_columns(q_columns + kTileQueries * a.d_head),
        q_rows(do_columns + kTileQueries * a.d_value),
        do_rows(q_rows + kTileQueries * round_up(a.d_head, kMaxPanel)),
        dq(do_rows + kTileQueries * round_up(a.d_value, kMaxPanel)),
        p(dq + kTileQueries * a.d_head),
        ds(p + kTileKeys * kTileQueries),
        mask(ds + kTileKeys * kTileQueries) {}
};

HWY_INLINE float dot(const float* x, const float* y, size_t n) {
  const D d;
  V sum = hn::Zero(d);
  size_t c = 0;
  for (; c + kLanes <= n; c += kLanes) sum = hn::MulAdd(hn::LoadU(d, x + c), hn::LoadU(d, y + c), sum);
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; c < n; ++c) total += x[c] * y[c];
  return total;
}

/// Packs queries [i, i + queries) of head h.
void load_queries(const AttentionGradArgs& g, size_t b, size_t h, size_t i, size_t queries, BackwardTile& tile) {
  const AttentionArgs& a = g.forward;
  pack_columns(a.q.at(b, i, h), a.q.row, queries, a.d_head, a.scale, tile.q_columns);
  pack_columns(g.d_o.at(b, i, h), g.d_o.row, queries, a.d_value, 1.0f, tile.do_columns);
  pack_rows(a.q.at(b, i, h), a.q.row, queries, a.d_head, a.scale, tile.q_rows);
  pack_rows(g.d_o.at(b, i, h), g.d_o.row, queries, a.d_value, 1.0f, tile.do_rows);
  std::fill_n(tile.dq, round_up(queries, kPanel) * a.d_head, 0.0f);
  std::fill_n(tile.lse_high, kTileQueries, -kMinusInfinity);
  std::fill_n(tile.lse_low, kTileQueries, 0.0f);
  std::fill_n(tile.delta, kTileQueries, 0.0f);
  for (size_t c = 0; c < queries; ++c) {
    const double lse = a.lse[(b * a.heads + h) * a.queries + i + c];
    if (lse == -std::numeric_limits<double>::infinity()) continue;
    tile.lse_high[c] = static_cast<float>(lse);
    tile.lse_low[c] = static_cast<float>(lse - static_cast<double>(tile.lse_high[c]));
    tile.delta[c] = dot(g.d_o.at(b, i + c, h), a.o.at(b, i + c, h), a.d_value);
  }
}

/// p = exp(s - lse), ds = p (dp - delta) over one half of a panel, in place.
HWY_INLINE void score_gradients(const Visible& visible, size_t half, float cap, const BackwardTile& tile, size_t column) {
  const D d;
  column += half * kLanes;
  const V high = hn::LoadU(d, tile.lse_high + column), low = hn::LoadU(d, tile.lse_low + column);
  const V delta = hn::LoadU(d, tile.delta + column);
  const V inverse_cap = hn::Set(d, cap == 0 ? 0.0f : 1.0f / cap);
  for (size_t r = 0; r < visible.rows; ++r) {
    float* p_at = tile.p + r * kTileQueries + column;
    float* ds_at = tile.ds + r * kTileQueries + column;
    const V s = hn::LoadU(d, p_at);
    const V p = exp_or_zero(d, hn::Sub(hn::Sub(masked_score(s, visible, r, half), high), low));
    const V tanh = hn::Mul(s, inverse_cap);  // the slope of cap * tanh(s / cap) is 1 - tanh^2; 1 without a cap
    const V ds = hn::Mul(p, hn::Sub(hn::LoadU(d, ds_at), delta));
    hn::StoreU(p, d, p_at);
    hn::StoreU(cap == 0 ? ds : hn::NegMulAdd(hn::Mul(tanh, tanh), ds, ds), d, ds_at);
  }
}

/// Fills p and ds of one panel of queries and adds its part of dq. False when the masks hide the whole panel.
bool panel_gradients(const AttentionGradArgs& g, size_t b, size_t h, size_t i, size_t queries, size_t column, size_t j,
                     const Visible& visible, const BackwardTile& tile) {
  const AttentionArgs& a = g.forward;
  const size_t kv_head = h / (a.heads / a.kv_heads);
  if (visible.mask != nullptr && !mask_tile(a, b, h, i + column, queries, j, visible.rows, kPanel, tile.mask)) {
    for (size_t r = 0; r < visible.rows; ++r) {
      std::fill_n(tile.p + r * kTileQueries + column, kPanel, 0.0f);
      std::fill_n(tile.ds + r * kTileQueries + column, kPanel, 0.0f);
    }
    return false;
  }
  multiply_panel<Left::by_rows>(visible.rows, a.k.at(b, j, kv_head), a.k.row, tile.q_columns + column * a.d_head, kPanel,
                                a.d_head, false, tile.p + column, kTileQueries);
  multiply_panel<Left::by_rows>(visible.rows, a.v.at(b, j, kv_head), a.v.row, tile.do_columns + column * a.d_value, kPanel,
                                a.d_value, false, tile.ds + column, kTileQueries);
  if (a.softcap != 0) softcap_panel(visible.rows, a.softcap, tile.p + column, kTileQueries);
  for (size_t half = 0; half < 2; ++half) score_gradients(visible, half, a.softcap, tile, column);
  if (g.dq.data != nullptr)
    multiply_panel<Left::by_steps>(a.d_head, a.k.at(b, j, kv_head), a.k.row, tile.ds + column, kTileQueries, visible.rows, true,
                                   tile.dq + column * a.d_head, kPanel);
  return true;
}

/// y [rows, width] += left [rows, queries] right [queries, width]; the queries before first[r / kGroup] see no row of the
/// group: their part of `left` is not filled.
void add_to_keys(const float* left, size_t rows, size_t queries, const size_t* first, const float* right, size_t width, float* y,
                 size_t stride) {
  HWY_ALIGN float part[kGroup * kPanel];
  for (size_t c = 0; c < width; c += kPanel, right += kTileQueries * kPanel)
    for (size_t r = 0; r < rows; r += kGroup) {
      const size_t i = first[r / kGroup], here = std::min(kGroup, rows - r), columns = std::min(kPanel, width - c);
      if (i >= queries) continue;
      const float* a = left + r * kTileQueries + i;
      float* at = y + r * stride + c;
      if (columns == kPanel) {
        multiply_few<Left::by_rows>(here, a, kTileQueries, right + i * kPanel, kPanel, queries - i, true, at, stride);
        continue;
      }
      multiply_few<Left::by_rows>(here, a, kTileQueries, right + i * kPanel, kPanel, queries - i, false, part, kPanel);
      for (size_t k = 0; k < here; ++k)
        for (size_t l = 0; l < columns; ++l) at[k * stride + l] += part[k * kPanel + l];
    }
}

/// Where queries [i, i + queries) meet keys [j, end).
void meet(const AttentionGradArgs& g, size_t b, size_t h, size_t i, size_t queries, size_t j, size_t end, BackwardTile& tile) {
  const AttentionArgs& a = g.forward;
  const size_t kv_head = h / (a.heads / a.kv_heads);
  size_t first[kTileKeys / kGroup];
  std::fill(std::begin(first), std::end(first), queries);
  bool any = false;
  for (size_t c = 0; c < queries; c += kPanel) {
    const size_t here = std::min(kPanel, queries - c);
    Visible visible = visible_keys(a, b, i + c, here, j, end, tile.mask);
    visible.rows = std::min(round_up(visible.rows, kGroup), end - j);  // whole groups: what is not seen has p = 0
    any |= visible.rows != 0 && panel_gradients(g, b, h, i, here, c, j, visible, tile);
    for (size_t r = 0; r < visible.rows; r += kGroup) first[r / kGroup] = std::min(first[r / kGroup], c);
  }
  if (!any) return;
  if (g.dv.data != nullptr)
    add_to_keys(tile.p, end - j, queries, first, tile.do_rows, a.d_value, g.dv.at(b, j, kv_head), g.dv.row);
  if (g.dk.data != nullptr)
    add_to_keys(tile.ds, end - j, queries, first, tile.q_rows, a.d_head, g.dk.at(b, j, kv_head), g.dk.row);
}

/// All gradients that belong to one head of k and v.
void backward_head(const AttentionGradArgs& g, size_t b, size_t kv_head, float* scratch) {
  const AttentionArgs& a = g.forward;
  BackwardTile tile(a, scratch);
  for (size_t j = 0; j < key_rows(a, b); ++j) {
    if (g.dk.data != nullptr) std::fill_n(g.dk.at(b, j, kv_head), a.d_head, 0.0f);
    if (g.dv.data != nullptr) std::fill_n(g.dv.at(b, j, kv_head), a.d_value, 0.0f);
  }
  const size_t share = a.heads / a.kv_heads, keys = key_count(a, b);
  for (size_t h = kv_head * share; h < (kv_head + 1) * share; ++h)
    for (size_t i = 0; i < query_count(a, b); i += kTileQueries) {
      const size_t queries = std::min(kTileQueries, query_count(a, b) - i);
      load_queries(g, b, h, i, queries, tile);
      const size_t seen = keys_seen(a, b, i + queries - 1, keys);
      for (size_t j = 0; j < seen; j += kTileKeys) meet(g, b, h, i, queries, j, std::min(j + kTileKeys, keys), tile);
      for (size_t c = 0; g.dq.data != nullptr && c < queries; c += kPanel)
        transpose(tile.dq + c * a.d_head, kPanel, a.d_head, std::min(kPanel, queries - c), a.scale, g.dq.at(b, i + c, h),
                  g.dq.row);
    }
}

}  // namespace
}  // namespace attention

void attention_backward_head(const AttentionGradArgs& g, size_t b, size_t kv_head, float* scratch) {
  attention::backward_head(g, b, kv_head, scratch);
}

}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(attention_backward_head);

std::size_t backward_floats(const AttentionArgs& a) {
  using namespace attention;
  return kTileQueries * (2 * a.d_head + a.d_value + round_up(a.d_head, kMaxPanel) + round_up(a.d_value, kMaxPanel)) +
         2 * kTileKeys * kTileQueries + kTileKeys * kMaxPanel;  // BackwardTile
}
std::size_t backward_team(const AttentionArgs& a) { return threads_worth(2.5 * attention_multiplications(a)); }
}  // namespace

std::size_t attention_backward_scratch(const AttentionArgs& a) { return backward_floats(a) * backward_team(a); }

void attention_backward(const AttentionGradArgs& g) {
  const AttentionArgs& a = g.forward;
  parallel_tasks(a.batch * a.kv_heads, backward_team(a), [&](std::size_t task, std::size_t worker) {
    HWY_DYNAMIC_DISPATCH(attention_backward_head)
    (g, task / a.kv_heads, task % a.kv_heads, a.scratch + worker * backward_floats(a));
  });
}

}  // namespace addnorm::kernels
#endif
