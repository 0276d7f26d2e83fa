// The parts of a softmax row, shared by softmax and cross-entropy.
#if defined(ADDNORM_KERNELS_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_KERNELS_SOFTMAX_INL_H_
#undef ADDNORM_KERNELS_SOFTMAX_INL_H_
#else
#define ADDNORM_KERNELS_SOFTMAX_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <limits>

#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Elements summed in float lanes before their sum goes to double.
inline constexpr std::size_t kSumChunk = 512;

/// sum of term(i, count) over [0, n) by vectors: term gives a vector whose lanes from `count` on are 0.
template <class Term>
HWY_INLINE double chunked_sum(std::size_t n, Term term) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  double total = 0;
  for (std::size_t chunk = 0; chunk < n; chunk += kSumChunk) {
    const std::size_t end = std::min(n, chunk + kSumChunk);
    auto sum = hn::Zero(d);
    for (std::size_t i = chunk; i < end; i += lanes) sum = hn::Add(sum, term(i, std::min(lanes, end - i)));
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
  }
  return total;
}

/// The largest element; any value if there is a NaN (the sum of exponentials then is NaN, and so is all that follows).
HWY_INLINE float row_max(const float* x, std::size_t n) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const float lowest = -std::numeric_limits<float>::infinity();
  auto max = hn::Set(d, lowest);
  for (std::size_t i = 0; i < n; i += lanes) max = hn::Max(max, load_some(d, x + i, std::min(lanes, n - i), lowest));
  return hn::GetLane(hn::MaxOfLanes(d, max));
}

/// sum of e^(x - max); with `e` given the terms are written there. e may be x.
HWY_INLINE double exp_sum(const float* x, std::size_t n, float max, float* e) {
  const hn::ScalableTag<float> d;
  const auto m = hn::Set(d, max);
  return chunked_sum(n, [=](std::size_t i, std::size_t count) HWY_ATTR {
    const auto v = exp_or_zero(d, hn::Sub(load_some(d, x + i, count, -std::numeric_limits<float>::infinity()), m));
    if (e != nullptr) store_some(d, v, e + i, count);
    return v;
  });
}

}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
