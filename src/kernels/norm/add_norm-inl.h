// What forward and backward of the fused Add & Norm share, compiled once per instruction set.
#if defined(ADDNORM_KERNELS_ADD_NORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_KERNELS_ADD_NORM_INL_H_
#undef ADDNORM_KERNELS_ADD_NORM_INL_H_
#else
#define ADDNORM_KERNELS_ADD_NORM_INL_H_
#endif

#include <cmath>
#include <type_traits>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/norm/add_norm.h"
#include "kernels/simd/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr size_t kLineFloats = 16;  // a cache line of floats; every vector length built divides it

/// How many rows ahead to prefetch: about 4 KiB, the distance DRAM needs while one row is worked on.
HWY_INLINE size_t rows_ahead(size_t width) { return width >= 1024 ? 1 : (1024 + width - 1) / width; }

/// body(tag, i) over [0, n): whole vectors, then single lanes of the same arithmetic.
template <class Body>
HWY_INLINE void for_each_vector(size_t n, const Body& body) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) body(d, i);
  for (; i < n; ++i) body(one, i);
}

/// What two vectors of doubles add up to: one tree of additions for both.
struct TwoTotals {
  double first;
  double second;
};
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE TwoTotals totals(hn::Vec<hn::ScalableTag<double>> a, hn::Vec<hn::ScalableTag<double>> b) {
  return {hn::GetLane(a), hn::GetLane(b)};
}
#else
/// `both` alternates between the two.
template <class D>
HWY_INLINE TwoTotals totals_of_mixed(D /*d*/, hn::Vec<D> both) {
  if constexpr (hn::MaxLanes(D()) > 2) {
    const hn::Half<D> half;
    return totals_of_mixed(half, hn::Add(hn::LowerHalf(half, both), hn::UpperHalf(half, both)));
  } else {
    return {hn::GetLane(both), hn::ExtractLane(both, 1)};
  }
}
HWY_INLINE TwoTotals totals(hn::Vec<hn::ScalableTag<double>> a, hn::Vec<hn::ScalableTag<double>> b) {
  const hn::ScalableTag<double> d;
  return totals_of_mixed(d, hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
}
#endif

/// Stages of different rows side by side, each over [0, n). A stage has line(i), which works on the cache line of floats
/// that starts at i, and rest(i, n), which works on what no whole line covers, if anything. So memory is busy while sums are
/// added up, and nothing waits for the root and the divisions at the end of a row.
template <class... Stages>
HWY_INLINE void sweep(size_t n, Stages&... stages) {
  size_t i = 0;
  for (; i + kLineFloats <= n; i += kLineFloats) (stages.line(i), ...);
  if (i < n) (stages.rest(i, n), ...);
}

/// line() and rest() of a stage that treats every vector alike: step(tag, i).
template <class Stage>
HWY_INLINE void step_through_line(const Stage& stage, size_t i) {
  const hn::ScalableTag<float> d;
  for (size_t j = 0; j < kLineFloats; j += hn::Lanes(d)) stage.step(d, i + j);
}
template <class Stage>
HWY_INLINE void step_through_rest(const Stage& stage, size_t i, size_t n) {
  for_each_vector(n - i, [&](auto tag, size_t j) HWY_ATTR { stage.step(tag, i + j); });
}

/// Streaming stores bypass the cache; they exist for whole aligned vectors only.
template <bool kStream, class D>
HWY_INLINE void store(hn::Vec<D> v, D d, float* p) {
  if constexpr (kStream && std::is_same_v<D, hn::ScalableTag<float>>) {
    hn::Stream(v, d, p);
  } else {
    hn::StoreU(v, d, p);
  }
}

/// xhat = (x - mean) * rstd in float without the error of a rounded mean, which at |mean| / std = 1e6 would be 2 % of the
/// result: the double mean is two floats, high + low, of about 48 bits. x - high is exact or rounded once, relative to
/// itself. RMS: xhat = x * rstd. Nothing is fused: the same bits with and without FMA.
template <bool kLayer>
class Normaliser {
 public:
  HWY_INLINE Normaliser(double mean, float rstd)
      : rstd_(rstd), high_(static_cast<float>(mean)), low_(static_cast<float>(mean - static_cast<double>(high_))) {}
  template <class D>
  HWY_INLINE hn::Vec<D> xhat(D d, hn::Vec<D> x) const {
    if constexpr (kLayer) x = hn::Sub(hn::Sub(x, hn::Set(d, high_)), hn::Set(d, low_));
    return hn::Mul(x, hn::Set(d, rstd_));
  }
  HWY_INLINE float rstd() const { return rstd_; }

 private:
  float rstd_;
  float high_;
  float low_;
};

/// True where float arithmetic could overflow or lose digits on the way although the result is fine.
HWY_INLINE bool near_float_limits(double mean, double rstd) { return !(std::fabs(mean) < 1e37 && rstd > 1e-37 && rstd < 1e37); }

/// Gain and bias of a norm. kFull: both are there and the gain is stored as it is, so the inner loop asks nothing.
template <bool kFull>
struct Affine {
  const float* gamma;
  const float* beta;
  bool one_plus;

  template <class D>
  HWY_INLINE hn::Vec<D> gain(D d, size_t i) const {
    const auto g = hn::LoadU(d, gamma + i);
    if constexpr (kFull) return g;
    return one_plus ? hn::Add(g, hn::Set(d, 1.0f)) : g;
  }
  template <class D>
  HWY_INLINE hn::Vec<D> scale(D d, hn::Vec<D> v, size_t i) const {
    return kFull || gamma ? hn::Mul(v, gain(d, i)) : v;
  }
  template <class D>
  HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> v, size_t i) const {
    v = scale(d, v, i);
    return kFull || beta ? hn::Add(v, hn::LoadU(d, beta + i)) : v;
  }
};

template <class D>
HWY_INLINE hn::Vec<D> coefficient_at(D d, const Coefficient<float>& c, size_t i) {
  return c.per_feature ? hn::LoadU(d, c.per_feature + i) : hn::Set(d, c.scalar);
}

/// Dropout on one row of f: what is kept is scaled by 1 / (1 - p).
struct Keep {
  const DropoutKeys& keys;
  bool active;
  uint64_t row;
  template <class D>
  HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> v, size_t i) const {
    return active ? apply_dropout(d, keys, row, i, v) : v;
  }
};

}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
