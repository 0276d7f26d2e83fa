// sum = a * x + b * drop(f);  y = norm(sum) * gain + beta: one sweep over each row, twice through registers.
#include "addnorm/core/parallel.h"
#include "kernels/add_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/add_norm_forward.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/add_norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// The sum of a row, element by element: never stored on the way, computed again where needed. Two reads and an add
/// from L1 cost less than a store and a read, and streaming stores could not be read back.
struct OneTerm {
  const float* HWY_RESTRICT x;
  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, size_t i) const {
    return hn::LoadU(d, x + i);
  }
  HWY_INLINE void prefetch_first(size_t, size_t) const {}
  HWY_INLINE void prefetch_second(size_t i) const { hwy::Prefetch(x + i); }
};
struct TwoTerms {
  const float* x;
  const float* f;
  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, size_t i) const {
    return hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, f + i));
  }
  HWY_INLINE void prefetch_first(size_t i, size_t count) const {
    for (size_t j = 0; j < count; j += kLineFloats) hwy::Prefetch(x + i + j);
  }
  HWY_INLINE void prefetch_second(size_t i) const { hwy::Prefetch(f + i); }
};

struct Moments {
  double mean;    // 0 for RMS
  double second;  // variance, or mean square
};

/// One pass in double, shifted by the row's first element K: with c = s - K exact in double,
///   mean = K + sum(c) / n,   var = (sum(c^2) - sum(c)^2 / n) / n.
/// |K - mean| <= std * sqrt(n - 1), so the subtraction loses at most a factor n of double's 2^-53. For any row at all.
template <bool kLayer, class Sum>
HWY_NOINLINE Moments careful_moments(const Sum s, size_t n) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> df;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(dd);
  const double shift = kLayer ? static_cast<double>(hn::GetLane(s.at(one, 0))) : 0.0;
  auto sums = hn::Zero(dd);
  auto squares = hn::Zero(dd);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto c = hn::Sub(hn::PromoteTo(dd, s.at(df, i)), hn::Set(dd, shift));
    sums = hn::Add(sums, c);
    squares = hn::MulAdd(c, c, squares);
  }
  double sum = hn::GetLane(hn::SumOfLanes(dd, sums));
  double square = hn::GetLane(hn::SumOfLanes(dd, squares));
  for (; i < n; ++i) {
    const double c = static_cast<double>(hn::GetLane(s.at(one, i))) - shift;
    sum += c;
    square += c * c;
  }
  const auto count = static_cast<double>(n);
  if constexpr (!kLayer) return {0.0, square / count};
  // Rounding may leave a tiny negative variance; NaN stays NaN.
  const double variance = (square - sum * (sum / count)) / count;
  return {shift + sum / count, variance < 0.0 ? 0.0 : variance};
}

/// A value near the row's mean, half a deviation off as a rule: the average of its first four elements. Exact for equal
/// elements; what overflows here is caught below.
template <class Sum>
HWY_INLINE float value_near_mean(const Sum& s, size_t n) {
  const hn::CappedTag<float, 4> four;
  const hn::CappedTag<float, 1> one;
  if (n < hn::Lanes(four)) return hn::GetLane(s.at(one, 0));
  return hn::GetLane(hn::SumOfLanes(four, s.at(four, 0))) / static_cast<float>(hn::Lanes(four));
}

/// The same with c = s - K in float, added up in float over at most kChunk vectors per accumulator and in double beyond:
/// a third of the work. Rows for which float is not enough take careful_moments: where K lies more than two deviations
/// off the mean (cancellation would magnify the float errors more than fivefold), or squares leave float's safe range.
template <bool kLayer, class Sum>
HWY_INLINE Moments row_moments(const Sum& s, const Sum& ahead, size_t n) {
  constexpr size_t kChunk = 8;
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(d);
  if (HWY_TARGET == HWY_SCALAR) return careful_moments<kLayer>(s, n);  // one lane: float chunks would be long ones
  const float shift = kLayer ? value_near_mean(s, n) : 0.0f;
  const auto k = hn::Set(d, shift);
  DoubleSum sums, squares;
  const auto step = [&](size_t i, auto& sum, auto& square) HWY_ATTR {
    auto c = s.at(d, i);
    if constexpr (kLayer) {
      c = hn::Sub(c, k);
      sum = hn::Add(sum, c);
    }
    square = hn::MulAdd(c, c, square);
  };
  size_t i = 0;
  while (i + lanes <= n) {
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, q0 = s0, q1 = s0, q2 = s0, q3 = s0;
    const size_t end = HWY_MIN(n, i + 4 * kChunk * lanes);
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      ahead.prefetch_first(i, 4 * lanes);
      step(i, s0, q0);
      step(i + lanes, s1, q1);
      step(i + 2 * lanes, s2, q2);
      step(i + 3 * lanes, s3, q3);
    }
    for (; i + lanes <= end; i += lanes) step(i, s0, q0);
    if constexpr (kLayer) sums.add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
    squares.add(hn::Add(hn::Add(q0, q1), hn::Add(q2, q3)));
  }
  double sum = sums.total();
  double square = squares.total();
  for (; i < n; ++i) {
    const double c = static_cast<double>(hn::GetLane(s.at(one, i)) - shift);
    if constexpr (kLayer) sum += c;
    square += c * c;
  }
  const double per = 1.0 / static_cast<double>(n);
  const double offset = sum * per;  // 0 for RMS
  const double second = square * per - offset * offset;
  const bool safe = square > 1e-28 && square < 1e28 && offset * offset <= 4.0 * second;
  if (!safe) [[unlikely]]
    return careful_moments<kLayer>(s, n);
  return {static_cast<double>(shift) + offset, second};
}

/// What a row writes; null where not wanted.
struct RowOutputs {
  float* sum;
  float* y;
};

/// y = (s - mean) * rstd * gain + beta in float. Multiplications and additions are not fused: the same bits with and
/// without FMA. kFull: every output and parameter is there.
template <bool kLayer, bool kStream, bool kFull, class Sum>
HWY_INLINE void normalise_row(const Sum& s, const Sum& ahead, size_t n, const Affine<kFull>& affine, const SplitMean& mean, float rstd,
                              const RowOutputs& out) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(d);
  const auto step = [&](auto tag, size_t i) HWY_ATTR {
    const auto v = s.at(tag, i);
    if (kFull || out.sum) store<kStream>(v, tag, out.sum + i);
    if (kFull || out.y) {
      const auto y = hn::Mul(kLayer ? mean.centre(tag, v) : v, hn::Set(tag, rstd));
      store<kStream>(affine.apply(tag, y, i), tag, out.y + i);
    }
  };
  size_t i = 0;
  for (; i + kLineFloats <= n; i += kLineFloats) {
    ahead.prefetch_second(i);
    for (size_t j = 0; j < kLineFloats; j += lanes) step(d, i + j);
  }
  for (; i + lanes <= n; i += lanes) step(d, i);
  for (; i < n; ++i) step(one, i);
}

/// Rows near the limits of float: the same formula in double. Rare, so a plain loop.
template <bool kFull, class Sum>
HWY_INLINE void normalise_row_in_double(const Sum& s, size_t n, const Affine<kFull>& affine, double mean, double rstd, const RowOutputs& out) {
  const hn::CappedTag<float, 1> one;
  for (size_t i = 0; i < n; ++i) {
    const float v = hn::GetLane(s.at(one, i));
    if (out.sum) out.sum[i] = v;
    if (!out.y) continue;
    double y = (static_cast<double>(v) - mean) * rstd;
    if (affine.gamma) y *= static_cast<double>(affine.one_plus ? 1.0f + affine.gamma[i] : affine.gamma[i]);
    if (affine.beta) y += static_cast<double>(affine.beta[i]);
    out.y[i] = static_cast<float>(y);
  }
}

template <bool kLayer, bool kStream, bool kFull, class RowSum>
HWY_INLINE void normalise_rows(const AddNorm& n, size_t begin, size_t end, bool write_sum, RowSum row_sum) {
  const size_t sum_stride = reference::stride_or(n.sum_stride, n.width);
  const size_t y_stride = reference::stride_or(n.y_stride, n.width);
  const Affine<kFull> affine{n.gamma, n.beta, n.gain_is_one_plus_gamma};
  const size_t ahead = rows_ahead(n.width);
  for (size_t r = begin; r < end; ++r) {
    const auto s = row_sum(r);
    const auto next = row_sum(r + ahead < n.rows ? r + ahead : r);
    const Moments m = row_moments<kLayer>(s, next, n.width);
    const double rstd = reference::reciprocal_root(m.second, static_cast<double>(n.eps),
                                                   kLayer ? EpsPlace::inside_root : n.eps_place);
    const RowOutputs out{write_sum ? n.sum + r * sum_stride : nullptr, n.y ? n.y + r * y_stride : nullptr};
    if (near_float_limits(m.mean, rstd)) {
      normalise_row_in_double(s, n.width, affine, m.mean, rstd, out);
    } else {
      normalise_row<kLayer, kStream, kFull>(s, next, n.width, affine, SplitMean(m.mean), static_cast<float>(rstd), out);
    }
    if (n.mean) n.mean[r] = m.mean;
    if (n.rstd) n.rstd[r] = static_cast<float>(rstd);
  }
}

/// sum = a * x + b * drop(f) for one row, when that is more than x + f.
HWY_INLINE void combine_row(const AddNorm& n, const DropoutKeys& keys, size_t r, float* out) {
  const float* x = n.x + r * reference::stride_or(n.x_stride, n.width);
  const float* f = n.f ? n.f + r * reference::stride_or(n.f_stride, n.width) : nullptr;
  const Keep keep{keys, n.dropout.p != 0.0f, n.dropout.first_row + r};
  for_each_vector(n.width, [&](auto tag, size_t i) HWY_ATTR {
    auto s = hn::LoadU(tag, x + i);
    if (!n.a.is_one()) s = hn::Mul(coefficient_at(tag, n.a, i), s);
    if (f) {
      auto v = keep.apply(tag, hn::LoadU(tag, f + i), i);
      if (!n.b.is_one()) v = hn::Mul(coefficient_at(tag, n.b, i), v);
      s = hn::Add(s, v);
    }
    hn::StoreU(s, tag, out + i);
  });
}

template <bool kLayer, bool kStream>
HWY_INLINE void block_of_kind(const AddNorm& n, size_t begin, size_t end) {
  const size_t x_stride = reference::stride_or(n.x_stride, n.width);
  const size_t f_stride = reference::stride_or(n.f_stride, n.width);
  const bool plain = n.a.is_one() && n.b.is_one() && n.dropout.p == 0.0f;
  const bool full = n.sum && n.y && n.gamma && n.beta && !n.gain_is_one_plus_gamma;
  const auto one_term = [&](size_t r) HWY_ATTR { return OneTerm{n.x + r * x_stride}; };
  const auto two_terms = [&](size_t r) HWY_ATTR { return TwoTerms{n.x + r * x_stride, n.f + r * f_stride}; };
  if (plain && n.f && full) {
    normalise_rows<kLayer, kStream, true>(n, begin, end, true, two_terms);
  } else if (plain && n.f) {
    normalise_rows<kLayer, kStream, false>(n, begin, end, n.sum != nullptr, two_terms);
  } else if (plain) {
    normalise_rows<kLayer, kStream, false>(n, begin, end, n.sum != nullptr, one_term);
  } else {
    // The combined row is laid down where it is wanted, or in y's place, and normalised from there while in L1.
    const DropoutKeys keys(n.dropout.key, n.dropout.p);
    float* base = n.sum ? n.sum : n.y;
    const size_t stride = reference::stride_or(n.sum ? n.sum_stride : n.y_stride, n.width);
    for (size_t r = begin; r < end; ++r) {
      combine_row(n, keys, r, base + r * stride);
      normalise_rows<kLayer, false, false>(n, r, r + 1, false, [&](size_t) HWY_ATTR { return OneTerm{base + r * stride}; });
    }
  }
}

void forward_block(NormKind kind, bool stream, const AddNorm& n, size_t begin, size_t end) {
  const bool layer = kind == NormKind::layer;
  if (stream) {
    layer ? block_of_kind<true, true>(n, begin, end) : block_of_kind<false, true>(n, begin, end);
    hwy::FlushStream();
  } else {
    layer ? block_of_kind<true, false>(n, begin, end) : block_of_kind<false, false>(n, begin, end);
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(forward_block);
}  // namespace

void add_norm(NormKind kind, const AddNorm& args) {
  if (args.width == 0) return;
  const bool stream = use_streaming(args);
  parallel_ranges(args.rows, kAddNormBlockRows, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(forward_block)(kind, stream, args, begin, end);
  });
}

}  // namespace addnorm::kernels
#endif
