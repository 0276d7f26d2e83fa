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

/// The rows of an array, or of the sum of two.
struct RowsOfOne {
  const float* x;
  size_t x_stride;
  HWY_INLINE OneTerm operator()(size_t r) const { return {x + r * x_stride}; }
};
struct RowsOfTwo {
  const float* x;
  size_t x_stride;
  const float* f;
  size_t f_stride;
  HWY_INLINE TwoTerms operator()(size_t r) const { return {x + r * x_stride, f + r * f_stride}; }
};

struct Moments {
  double mean;    // 0 for RMS
  double second;  // variance, or mean square
};

/// One pass in double, shifted by the row's first element K: with c = s - K exact in double,
///   mean = K + sum(c) / n,   var = (sum(c^2) - sum(c)^2 / n) / n.
/// |K - mean| <= std * sqrt(n - 1), so the subtraction loses at most a factor n of double's 2^-53. Four chains of sums
/// hide the latency of the additions.
template <bool kLayer, class Sum>
HWY_INLINE Moments row_moments(const Sum& s, const Sum& ahead, size_t n) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> df;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(dd);
  const double shift = kLayer ? static_cast<double>(hn::GetLane(s.at(one, 0))) : 0.0;
  const auto k = hn::Set(dd, shift);
  const auto step = [&](size_t i, auto& sum, auto& square) HWY_ATTR {
    auto c = hn::PromoteTo(dd, s.at(df, i));
    if constexpr (kLayer) {
      c = hn::Sub(c, k);
      sum = hn::Add(sum, c);
    }
    square = hn::MulAdd(c, c, square);
  };
  auto s0 = hn::Zero(dd), s1 = s0, s2 = s0, s3 = s0, q0 = s0, q1 = s0, q2 = s0, q3 = s0;
  size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    ahead.prefetch_first(i, 4 * lanes);
    step(i, s0, q0);
    step(i + lanes, s1, q1);
    step(i + 2 * lanes, s2, q2);
    step(i + 3 * lanes, s3, q3);
  }
  for (; i + lanes <= n; i += lanes) step(i, s0, q0);
  double sum = hn::GetLane(hn::SumOfLanes(dd, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  double square = hn::GetLane(hn::SumOfLanes(dd, hn::Add(hn::Add(q0, q1), hn::Add(q2, q3))));
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

/// What a row writes; null where not wanted.
struct RowOutputs {
  float* sum;
  float* y;
};

/// y = (s - mean) * rstd * gain + beta in float. Multiplications and additions are not fused: the same bits with and
/// without FMA. kFull: every output and parameter is there.
template <bool kLayer, bool kStream, bool kFull, class Sum>
HWY_INLINE void normalise_row(const Sum& s, const Sum& ahead, size_t n, const Affine<kFull>& affine, const SplitMean& mean,
                              float rstd, const RowOutputs& out) {
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
HWY_INLINE void normalise_row_in_double(const Sum& s, size_t n, const Affine<kFull>& affine, double mean, double rstd,
                                        const RowOutputs& out) {
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

// Not inlined: one function of all variants takes the compiler a minute.
template <bool kLayer, bool kStream, bool kFull, class RowSum>
HWY_NOINLINE void normalise_rows(const AddNorm& n, size_t begin, size_t end, bool write_sum, RowSum row_sum) {
  const size_t sum_stride = reference::stride_or(n.sum_stride, n.width);
  const size_t y_stride = reference::stride_or(n.y_stride, n.width);
  const Affine<kFull> affine{n.gamma, n.beta, n.gain_is_one_plus_gamma};
  const size_t ahead = rows_ahead(n.width);
  for (size_t r = begin; r < end; ++r) {
    const auto s = row_sum(r);
    const auto next = row_sum(r + ahead < n.rows ? r + ahead : r);
    const Moments m = row_moments<kLayer>(s, next, n.width);
    const double rstd =
        reference::reciprocal_root(m.second, static_cast<double>(n.eps), kLayer ? EpsPlace::inside_root : n.eps_place);
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
  const RowsOfTwo two_terms{n.x, x_stride, n.f, f_stride};
  if (plain && n.f && full) {
    normalise_rows<kLayer, kStream, true>(n, begin, end, true, two_terms);
  } else if (plain && n.f) {
    normalise_rows<kLayer, kStream, false>(n, begin, end, n.sum != nullptr, two_terms);
  } else if (plain) {
    normalise_rows<kLayer, kStream, false>(n, begin, end, n.sum != nullptr, RowsOfOne{n.x, x_stride});
  } else {
    // The combined row is laid down where it is wanted, or in y's place, and normalised from there while in L1.
    const DropoutKeys keys(n.dropout.key, n.dropout.p);
    float* base = n.sum ? n.sum : n.y;
    const size_t stride = reference::stride_or(n.sum ? n.sum_stride : n.y_stride, n.width);
    for (size_t r = begin; r < end; ++r) {
      combine_row(n, keys, r, base + r * stride);
      normalise_rows<kLayer, false, false>(n, r, r + 1, false, RowsOfOne{base, stride});
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
