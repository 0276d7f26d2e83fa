// The stages a row goes through in the backward Add & Norm: it is measured, then its gradient is written.
#if defined(ADDNORM_KERNELS_ADD_NORM_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_KERNELS_ADD_NORM_BACKWARD_INL_H_
#undef ADDNORM_KERNELS_ADD_NORM_BACKWARD_INL_H_
#else
#define ADDNORM_KERNELS_ADD_NORM_BACKWARD_INL_H_
#endif

#include "kernels/norm/add_norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {  // for one source file each
namespace hn = hwy::HWY_NAMESPACE;

/// One row as the gradient sees it. xhat is computed from the sum again: a subtraction and a product are cheaper than
/// reading a stored xhat.
template <bool kLayer, bool kFull>
struct GradRow {
  const float* dy;    // null: nothing arrives at y
  const float* dsum;  // null: nothing arrives at the sum
  const float* sum;
  Normaliser<kLayer> normaliser;
  Affine<kFull> affine;

  template <class D>
  HWY_INLINE hn::Vec<D> xhat(D d, size_t i) const {
    return normaliser.xhat(d, hn::LoadU(d, sum + i));
  }
};

/// Where a later row begins: it is asked for while this one is worked on.
struct RowAhead {
  const float* dy;
  const float* dsum;
  const float* sum;
  HWY_INLINE void prefetch(size_t i) const {
    hwy::Prefetch(dy + i);
    hwy::Prefetch(dsum + i);
    hwy::Prefetch(sum + i);
  }
};

struct Averages {
  float g;   // mean of dy * gain; 0 for RMS
  float gx;  // mean of dy * gain * xhat
};

/// A sum of float vectors: in float over at most kChunk lines, in double beyond.
class ChunkedSum {
 public:
  HWY_INLINE ChunkedSum() : even_(hn::Zero(d_)), odd_(even_), low_(hn::Zero(dd_)), high_(low_) {}
  using Floats = hn::Vec<hn::ScalableTag<float>>;
  HWY_INLINE Floats& chain(size_t vector) { return vector % 2 == 0 ? even_ : odd_; }
  HWY_INLINE void flush() {
    const auto v = hn::Add(even_, odd_);
#if HWY_TARGET == HWY_SCALAR
    low_ = hn::Add(low_, hn::PromoteTo(dd_, v));
#else
    const hn::Half<hn::ScalableTag<float>> half;
    low_ = hn::Add(low_, hn::PromoteTo(dd_, hn::LowerHalf(half, v)));
    high_ = hn::Add(high_, hn::PromoteTo(dd_, hn::UpperHalf(half, v)));
#endif
    even_ = odd_ = hn::Zero(d_);
  }
  HWY_INLINE hn::Vec<hn::ScalableTag<double>> lanes() const { return hn::Add(low_, high_); }

 private:
  hn::ScalableTag<float> d_;
  hn::ScalableTag<double> dd_;
  Floats even_;
  Floats odd_;
  hn::Vec<hn::ScalableTag<double>> low_;
  hn::Vec<hn::ScalableTag<double>> high_;
};

/// First stage: the averages of a row, and its share of dgamma and dbeta (null where not wanted).
template <bool kLayer, bool kFull>
class GradMeasure {
 public:
  HWY_INLINE GradMeasure(const GradRow<kLayer, kFull>& row, float* dgamma, float* dbeta)
      : row_(row), dgamma_(dgamma), dbeta_(dbeta) {}
  HWY_INLINE void line(size_t i) {
    const size_t lanes = hn::Lanes(d_);
    for (size_t j = 0; j < kLineFloats; j += lanes) step(d_, i + j, g_.chain(j / lanes), gx_.chain(j / lanes));
    if (++lines_ % kChunk == 0) flush();
  }
  HWY_INLINE void rest(size_t i, size_t n) {
    for (; i + hn::Lanes(d_) <= n; i += hn::Lanes(d_)) step(d_, i, g_.chain(0), gx_.chain(0));
    for (; i < n; ++i) {
      auto g = hn::Zero(one_), gx = hn::Zero(one_);
      step(one_, i, g, gx);
      last_g_ += static_cast<double>(hn::GetLane(g));
      last_gx_ += static_cast<double>(hn::GetLane(gx));
    }
  }
  /// per_element: 1 / n.
  HWY_INLINE Averages result(double per_element) {
    flush();
    const TwoTotals t = totals(g_.lanes(), gx_.lanes());
    return {kLayer ? static_cast<float>((t.first + last_g_) * per_element) : 0.0f,
            static_cast<float>((t.second + last_gx_) * per_element)};
  }

 private:
  static constexpr size_t kChunk = 8;

  template <class D, class V>
  HWY_INLINE void step(D d, size_t i, V& sum_g, V& sum_gx) const {
    const auto dy = hn::LoadU(d, row_.dy + i);
    const auto xhat = row_.xhat(d, i);
    if (kFull || dgamma_) hn::StoreU(hn::MulAdd(dy, xhat, hn::LoadU(d, dgamma_ + i)), d, dgamma_ + i);
    if (kFull || dbeta_) hn::StoreU(hn::Add(dy, hn::LoadU(d, dbeta_ + i)), d, dbeta_ + i);
    const auto g = row_.affine.scale(d, dy, i);
    if constexpr (kLayer) sum_g = hn::Add(sum_g, g);
    sum_gx = hn::MulAdd(g, xhat, sum_gx);
  }
  HWY_INLINE void flush() {
    if constexpr (kLayer) g_.flush();
    gx_.flush();
  }

  hn::ScalableTag<float> d_;
  hn::CappedTag<float, 1> one_;
  GradRow<kLayer, kFull> row_;
  float* dgamma_;
  float* dbeta_;
  ChunkedSum g_;
  ChunkedSum gx_;
  size_t lines_ = 0;
  double last_g_ = 0;
  double last_gx_ = 0;
};

/// Second stage: total = rstd * (g - mean(g) - xhat * mean(g * xhat)) + dsum, to `out`.
template <bool kLayer, bool kStream, bool kFull>
struct GradWrite {
  GradRow<kLayer, kFull> row;
  Averages mean;
  RowAhead ahead;  // null: not streaming, or the row ahead is the one that is measured now
  float* out;

  template <class D>
  HWY_INLINE void step(D d, size_t i) const {
    auto t = row.affine.scale(d, hn::LoadU(d, row.dy + i), i);
    if constexpr (kLayer) t = hn::Sub(t, hn::Set(d, mean.g));
    t = hn::NegMulAdd(row.xhat(d, i), hn::Set(d, mean.gx), t);
    t = hn::Mul(t, hn::Set(d, row.normaliser.rstd()));
    if (kFull || row.dsum) t = hn::Add(t, hn::LoadU(d, row.dsum + i));  // rounded apart, as an addition of its own would be
    store<kStream>(t, d, out + i);
  }
  HWY_INLINE void line(size_t i) const {
    if (kStream && ahead.dy) ahead.prefetch(i);
    step_through_line(*this, i);
  }
  HWY_INLINE void rest(size_t i, size_t n) const { step_through_rest(*this, i, n); }
};

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
