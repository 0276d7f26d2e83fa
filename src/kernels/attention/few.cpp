// Attention of a few queries, as decoding has them: one row of scores after the other. The tiles of forward.cpp hold
// 16 queries side by side and would compute all of them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention/attention.h"
#include "kernels/attention/plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/few.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

/// s[r] = q . k_r for R keys at a time: their sums do not wait for each other.
template <size_t R>
HWY_INLINE void dots(const float* q, const float* k, size_t stride, size_t width, float* s) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sum[R];
  for (size_t r = 0; r < R; ++r) sum[r] = hn::Zero(d);
  size_t c = 0;
  for (; c + lanes <= width; c += lanes) {
    const V x = hn::LoadU(d, q + c);
    for (size_t r = 0; r < R; ++r) sum[r] = hn::MulAdd(x, hn::LoadU(d, k + r * stride + c), sum[r]);
  }
  for (size_t r = 0; r < R; ++r) {
    s[r] = hn::GetLane(hn::SumOfLanes(d, sum[r]));
    for (size_t rest = c; rest < width; ++rest) s[r] += q[rest] * k[r * stride + rest];
  }
}

/// o[c] = shrink * o[c] + sum over keys of p[r] v_r[c]
HWY_INLINE void add_values(const float* p, const float* v, size_t stride, size_t keys, size_t width, float shrink, float* o) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t c = 0;
  for (; c + 4 * lanes <= width; c += 4 * lanes) {
    V sum[4];
    for (size_t i = 0; i < 4; ++i) sum[i] = hn::Mul(hn::Set(d, shrink), hn::LoadU(d, o + c + i * lanes));
    for (size_t r = 0; r < keys; ++r)
      for (size_t i = 0; i < 4; ++i) sum[i] = hn::MulAdd(hn::Set(d, p[r]), hn::LoadU(d, v + r * stride + c + i * lanes), sum[i]);
    for (size_t i = 0; i < 4; ++i) hn::StoreU(sum[i], d, o + c + i * lanes);
  }
  for (; c < width; ++c) {
    float sum = shrink * o[c];
    for (size_t r = 0; r < keys; ++r) sum += p[r] * v[r * stride + c];
    o[c] = sum;
  }
}

HWY_INLINE float largest_of(const float* s, size_t n, float largest) {
  for (size_t r = 0; r < n; ++r) largest = std::max(largest, s[r]);
  return largest;
}

HWY_INLINE float exponential(float x) {
  const hn::CappedTag<float, 1> one;
  return hn::GetLane(exp_or_zero(one, hn::Set(one, x)));
}

/// s becomes exp(s - largest); returns the sum.
HWY_INLINE float exponentials(float largest, size_t n, float* s) {
  const D d;
  const auto body = [=](float* at)
                        HWY_ATTR { hn::StoreU(exp_or_zero(d, hn::Sub(hn::LoadU(d, at), hn::Set(d, largest))), d, at); };
  for_each_vector(n, body, s);
  float sum = 0;
  for (size_t r = 0; r < n; ++r) sum += s[r];
  return sum;
}

}  // namespace

/// One query of one head, its keys in stretches with an online softmax. scratch: scaled query and scores.
void attention_one_query(const AttentionArgs& a, size_t b, size_t h, size_t i, float* scratch) {
  using namespace addnorm::kernels::attention;  // NOLINT: the plan
  constexpr float kNothing = -std::numeric_limits<float>::infinity();
  const size_t kv_head = h / (a.heads / a.kv_heads);
  const size_t seen = keys_seen(a, b, i, key_count(a, b));
  float *q = scratch, *s = scratch + a.d_head, *o = a.o.at(b, i, h);
  for (size_t c = 0; c < a.d_head; ++c) q[c] = a.scale * a.q.at(b, i, h)[c];
  std::fill_n(o, a.d_value, 0.0f);
  float largest = kNothing, sum = 0;
  for (size_t j = 0; j < seen; j += kTileKeys) {
    const size_t keys = std::min(kTileKeys, seen - j);
    const float* k = a.k.at(b, j, kv_head);
    size_t r = 0;
    for (; r + 4 <= keys; r += 4) dots<4>(q, k + r * a.k.row, a.k.row, a.d_head, s + r);
    for (; r < keys; ++r) dots<1>(q, k + r * a.k.row, a.k.row, a.d_head, s + r);
    const float before = largest;
    largest = largest_of(s, keys, before);
    const float shrink = before == kNothing ? 0.0f : exponential(before - largest);
    sum = shrink * sum + exponentials(largest, keys, s);
    add_values(s, a.v.at(b, j, kv_head), a.v.row, keys, a.d_value, shrink, o);
  }
  const float factor = sum == 0.0f ? 0.0f : 1.0f / sum;
  for (size_t c = 0; c < a.d_value; ++c) o[c] *= factor;
  if (a.lse != nullptr)
    a.lse[(b * a.heads + h) * a.queries + i] = static_cast<double>(largest) + static_cast<double>(std::log(sum));
}

}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(attention_one_query);
}  // namespace

std::size_t few_queries_floats(const AttentionArgs& a) { return attention::round_up(a.d_head + attention::kTileKeys, 16); }

void attention_few_queries(const AttentionArgs& a, std::size_t b, std::size_t h, float* scratch) {
  for (std::size_t i = 0; i < query_count(a, b); ++i) HWY_DYNAMIC_DISPATCH(attention_one_query)(a, b, h, i, scratch);
}

}  // namespace addnorm::kernels
#endif
