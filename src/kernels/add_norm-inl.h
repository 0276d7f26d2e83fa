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
#include "kernels/add_norm.h"
#include "kernels/philox-inl.h"

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

/// Streaming stores bypass the cache; they exist for whole aligned vectors only.
template <bool kStream, class D>
HWY_INLINE void store(hn::Vec<D> v, D d, float* p) {
  if constexpr (kStream && std::is_same_v<D, hn::ScalableTag<float>>) {
    hn::Stream(v, d, p);
  } else {
    hn::StoreU(v, d, p);
  }
}

/// A sum in double that takes float vectors.
class DoubleSum {
 public:
  HWY_INLINE DoubleSum() : low_(hn::Zero(dd_)), high_(hn::Zero(dd_)) {}
  HWY_INLINE void add(hn::Vec<hn::ScalableTag<float>> v) {
#if HWY_TARGET == HWY_SCALAR
    low_ = hn::Add(low_, hn::PromoteTo(dd_, v));
#else
    const hn::Half<hn::ScalableTag<float>> half;
    low_ = hn::Add(low_, hn::PromoteTo(dd_, hn::LowerHalf(half, v)));
    high_ = hn::Add(high_, hn::PromoteTo(dd_, hn::UpperHalf(half, v)));
#endif
  }
  HWY_INLINE double total() const { return hn::GetLane(hn::SumOfLanes(dd_, hn::Add(low_, high_))); }

 private:
  hn::ScalableTag<double> dd_;
  hn::Vec<hn::ScalableTag<double>> low_;
  hn::Vec<hn::ScalableTag<double>> high_;
};

/// A double mean as two floats whose sum has about 48 bits. x - high is exact or rounded once, relative to itself; so
/// (x - high) - low carries no error of a rounded mean, which at |mean| / std = 1e6 would be 2 % of the result.
struct SplitMean {
  float high;
  float low;
  explicit SplitMean(double mean) : high(static_cast<float>(mean)), low(static_cast<float>(mean - static_cast<double>(high))) {}
  template <class D>
  HWY_INLINE hn::Vec<D> centre(D d, hn::Vec<D> x) const {
    return hn::Sub(hn::Sub(x, hn::Set(d, high)), hn::Set(d, low));
  }
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
