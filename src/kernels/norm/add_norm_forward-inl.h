// The stages a row goes through in the forward Add & Norm: its sum is laid down, measured, written.
#if defined(ADDNORM_KERNELS_ADD_NORM_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_KERNELS_ADD_NORM_FORWARD_INL_H_
#undef ADDNORM_KERNELS_ADD_NORM_FORWARD_INL_H_
#else
#define ADDNORM_KERNELS_ADD_NORM_FORWARD_INL_H_
#endif

#include <limits>

#include "kernels/norm/add_norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {  // for one source file each
namespace hn = hwy::HWY_NAMESPACE;

/// A row to be normalised that lies in memory.
struct StoredRow {
  const float* x;
  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, size_t i) const {
    return hn::LoadU(d, x + i);
  }
  HWY_INLINE void prefetch(size_t i) const { hwy::Prefetch(x + i); }
};

/// A row that is the sum of two and not stored yet: computed again where needed, because what streaming stores have
/// written cannot be read back from the cache.
struct RowOfSums {
  const float* x;
  const float* f;
  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, size_t i) const {
    return hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, f + i));
  }
  HWY_INLINE void prefetch(size_t i) const {
    hwy::Prefetch(x + i);
    hwy::Prefetch(f + i);
  }
};

struct StoredRows {
  const float* x;
  size_t stride;
  HWY_INLINE StoredRow row(size_t r) const { return {x + r * stride}; }
};
struct RowsOfSums {
  const float* x;
  size_t x_stride;
  const float* f;
  size_t f_stride;
  HWY_INLINE RowOfSums row(size_t r) const { return {x + r * x_stride, f + r * f_stride}; }
};

// First stage of a row: its sum is laid down.

/// out = x + f.
struct Add {
  const float* x;
  const float* f;
  float* out;
  template <class D>
  HWY_INLINE void step(D d, size_t i) const {
    hn::StoreU(hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, f + i)), d, out + i);
  }
  HWY_INLINE void line(size_t i) const { step_through_line(*this, i); }
  HWY_INLINE void rest(size_t i, size_t n) const { step_through_rest(*this, i, n); }
};

/// out = a * x + b * drop(f): all there is.
struct Combine {
  const AddNorm& args;
  const float* x;
  const float* f;
  Keep keep;
  float* out;
  template <class D>
  HWY_INLINE void step(D d, size_t i) const {
    auto s = hn::LoadU(d, x + i);
    if (!args.a.is_one()) s = hn::Mul(coefficient_at(d, args.a, i), s);
    if (f) {
      auto v = keep.apply(d, hn::LoadU(d, f + i), i);
      if (!args.b.is_one()) v = hn::Mul(coefficient_at(d, args.b, i), v);
      s = hn::Add(s, v);
    }
    hn::StoreU(s, d, out + i);
  }
  HWY_INLINE void line(size_t i) const { step_through_line(*this, i); }
  HWY_INLINE void rest(size_t i, size_t n) const { step_through_rest(*this, i, n); }
};

/// Nothing to lay down.
struct Nothing {
  HWY_INLINE void line(size_t) const {}
  HWY_INLINE void rest(size_t, size_t) const {}
};

struct NoSums {
  static constexpr bool kLaysDown = false;
  HWY_INLINE Nothing stage(size_t) const { return {}; }
};
struct PlainSums {
  static constexpr bool kLaysDown = true;
  const float* x;
  size_t x_stride;
  const float* f;
  size_t f_stride;
  float* out;
  size_t stride;
  HWY_INLINE Add stage(size_t r) const { return {x + r * x_stride, f + r * f_stride, out + r * stride}; }
};
struct CombinedSums {
  static constexpr bool kLaysDown = true;
  const AddNorm& n;
  const DropoutKeys& keys;
  size_t x_stride;
  size_t f_stride;
  float* out;
  size_t stride;
  HWY_INLINE Combine stage(size_t r) const {
    const Keep keep{keys, n.dropout.p != 0.0f, n.dropout.first_row + r};
    return {n, n.x + r * x_stride, n.f ? n.f + r * f_stride : nullptr, keep, out + r * stride};
  }
};

/// Sums over a row of s - shift and of its square; shift and sum are 0 for RMS.
struct RowSums {
  double shift;
  double sum;
  double square;
};

/// Second stage: one pass in double, shifted by the row's first element K. With c = s - K exact in double,
///   mean = K + sum(c) / n,   var = (sum(c^2) - sum(c)^2 / n) / n.
/// |K - mean| <= std * sqrt(n - 1), so the subtraction loses at most a factor n of double's 2^-53.
template <bool kLayer, class Row>
class Measure {
 public:
  HWY_INLINE explicit Measure(const Row& row)
      : row_(row), shift_(kLayer ? static_cast<double>(hn::GetLane(row.at(one_, 0))) : 0.0), k_(hn::Set(dd_, shift_)) {
    for (size_t c = 0; c < kChains; ++c) sum_[c] = square_[c] = hn::Zero(dd_);
  }
  HWY_INLINE void line(size_t i) {
    for (size_t j = 0; j < kLineFloats; j += hn::Lanes(dd_)) step(i + j, j / hn::Lanes(dd_) % kChains);
  }
  HWY_INLINE void rest(size_t i, size_t n) {
    for (; i + hn::Lanes(dd_) <= n; i += hn::Lanes(dd_)) step(i, 0);
    for (; i < n; ++i) {
      const double c = static_cast<double>(hn::GetLane(row_.at(one_, i))) - shift_;
      last_sum_ += c;
      last_square_ += c * c;
    }
  }
  HWY_INLINE RowSums result() const {
    const TwoTotals t = totals(hn::Add(sum_[0], sum_[1]), hn::Add(square_[0], square_[1]));
    return {shift_, t.first + last_sum_, t.second + last_square_};
  }

 private:
  using Doubles = hn::Vec<hn::ScalableTag<double>>;
  static constexpr size_t kChains = 2;  // enough to hide the latency of the additions beside the other stages

  HWY_INLINE void step(size_t i, size_t chain) {
    auto c = hn::PromoteTo(dd_, row_.at(df_, i));
    if constexpr (kLayer) {
      c = hn::Sub(c, k_);
      sum_[chain] = hn::Add(sum_[chain], c);
    }
    square_[chain] = hn::MulAdd(c, c, square_[chain]);
  }

  hn::ScalableTag<double> dd_;
  hn::Rebind<float, hn::ScalableTag<double>> df_;
  hn::CappedTag<float, 1> one_;
  Row row_;
  double shift_;
  Doubles k_;
  Doubles sum_[kChains];
  Doubles square_[kChains];
  double last_sum_ = 0;
  double last_square_ = 0;
};

/// Mean and rstd of several rows from their sums, a vector of rows at a time: the root and the division of one row take as
/// long as those of four.
template <bool kLayer>
class GroupMoments {
 public:
  static constexpr size_t kRows = 8;  // at least a vector of doubles

  HWY_INLINE void put(size_t row, const RowSums& sums) {
    shift_[row] = sums.shift;
    sum_[row] = sums.sum;
    square_[row] = sums.square;
  }
  /// For the first `count` rows that were put; per_element: 1 / n. Not inlined: it would be in every variant of forward.
  HWY_NOINLINE void finish(size_t count, double per_element, double eps, EpsPlace place, double* mean, float* rstd) {
    const hn::ScalableTag<double> d;
    const hn::CappedTag<double, 1> one;
    size_t row = 0;
    for (; row + hn::Lanes(d) <= count; row += hn::Lanes(d)) finish_rows(d, row, per_element, eps, place);
    for (; row < count; ++row) finish_rows(one, row, per_element, eps, place);
    for (row = 0; mean && row < count; ++row) mean[row] = mean_[row];
    for (row = 0; rstd && row < count; ++row) rstd[row] = static_cast<float>(rstd_[row]);
  }
  HWY_INLINE double mean(size_t row) const { return mean_[row]; }
  HWY_INLINE double rstd(size_t row) const { return rstd_[row]; }

 private:
  template <class D>
  HWY_INLINE void finish_rows(D d, size_t row, double per_element, double eps, EpsPlace place) {
    const auto each = hn::Set(d, per_element);
    auto second = hn::LoadU(d, square_ + row);  // becomes the variance, or the mean square
    if constexpr (kLayer) {
      const auto sum = hn::LoadU(d, sum_ + row);
      const auto offset = hn::Mul(sum, each);
      second = hn::Sub(second, hn::Mul(sum, offset));
      second = hn::IfThenZeroElse(hn::Lt(second, hn::Zero(d)), second);  // rounding may leave less than 0; NaN stays NaN
      hn::StoreU(hn::Add(hn::LoadU(d, shift_ + row), offset), d, mean_ + row);
    }
    second = hn::Mul(second, each);
    const auto e = hn::Set(d, eps);
    const auto root = place == EpsPlace::inside_root ? hn::Sqrt(hn::Add(second, e)) : hn::Add(hn::Sqrt(second), e);
    // An infinite second moment makes NaN, as in reference::reciprocal_root: infinity / infinity.
    const auto one = hn::IfThenElse(hn::Eq(root, hn::Set(d, std::numeric_limits<double>::infinity())), root, hn::Set(d, 1.0));
    hn::StoreU(hn::Div(one, root), d, rstd_ + row);
  }

  double shift_[kRows] = {};
  double sum_[kRows] = {};
  double square_[kRows] = {};
  double mean_[kRows] = {};
  double rstd_[kRows] = {};
};

/// What a row writes; null where not wanted.
struct RowOutputs {
  float* sum;
  float* y;
};

/// Third stage: y = xhat * gain + beta in float. kFull: y, gain and bias are all there. kSumIsThere: laid down already.
template <bool kLayer, bool kStream, bool kFull, bool kSumIsThere, class Row>
struct Write {
  Row row;
  Row ahead;
  Affine<kFull> affine;
  Normaliser<kLayer> normaliser;
  RowOutputs out;
  template <class D>
  HWY_INLINE void step(D d, size_t i) const {
    const auto v = row.at(d, i);
    if (!kSumIsThere && out.sum) store<kStream>(v, d, out.sum + i);
    if (kFull || out.y) store<kStream>(affine.apply(d, normaliser.xhat(d, v), i), d, out.y + i);
  }
  HWY_INLINE void line(size_t i) const {
    if constexpr (kStream) ahead.prefetch(i);
    step_through_line(*this, i);
  }
  HWY_INLINE void rest(size_t i, size_t n) const { step_through_rest(*this, i, n); }
};

/// Rows near the limits of float: the same formula in double. Rare, so a plain loop.
template <bool kSumIsThere, bool kFull, class Row>
HWY_NOINLINE void write_in_double(const Row& row, size_t n, const Affine<kFull>& affine, double mean, double rstd,
                                  const RowOutputs& out) {
  const hn::CappedTag<float, 1> one;
  for (size_t i = 0; i < n; ++i) {
    const float v = hn::GetLane(row.at(one, i));
    if (!kSumIsThere && out.sum) out.sum[i] = v;
    if (!out.y) continue;
    double y = (static_cast<double>(v) - mean) * rstd;
    if (affine.gamma) y *= static_cast<double>(affine.one_plus ? 1.0f + affine.gamma[i] : affine.gamma[i]);
    if (affine.beta) y += static_cast<double>(affine.beta[i]);
    out.y[i] = static_cast<float>(y);
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
