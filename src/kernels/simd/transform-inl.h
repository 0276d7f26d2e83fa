// Element-wise loops over vectors. The last, partial vector goes through a padded copy, so every element sees the same
// arithmetic wherever it stands, and no lane touches memory outside the arrays.
#if defined(ADDNORM_KERNELS_TRANSFORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_KERNELS_TRANSFORM_INL_H_
#undef ADDNORM_KERNELS_TRANSFORM_INL_H_
#else
#define ADDNORM_KERNELS_TRANSFORM_INL_H_
#endif

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// body(p0, p1, ...) for every whole vector, the pointers advanced; then once on padded copies of the rest. Pointers to
/// float are copied back afterwards, pointers to const float only read. The body loads and stores with LoadU, StoreU.
template <class Body, class... Pointers>
HWY_INLINE void for_each_vector(std::size_t n, Body body, Pointers... arrays) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) body((arrays + i)...);
  if (i == n) return;
  const std::size_t bytes = (n - i) * sizeof(float);
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  HWY_ALIGN float padded[sizeof...(Pointers)][kLanes] = {};
  std::size_t k = 0;
  (std::memcpy(padded[k++], arrays + i, bytes), ...);
  k = 0;
  [&]<std::size_t... Index>(std::index_sequence<Index...>) HWY_ATTR { body(static_cast<Pointers>(padded[Index])...); }
  (std::index_sequence_for<Pointers...>());
  const auto copy_back = [bytes](auto* array, const float* from) {
    if constexpr (!std::is_const_v<std::remove_pointer_t<decltype(array)>>) std::memcpy(array, from, bytes);
  };
  (copy_back(arrays + i, padded[k++]), ...);
}

/// A vector whose first `count` lanes come from p and whose others are `fill`; reads nothing else.
template <class D>
HWY_INLINE hn::Vec<D> load_some(D d, const float* p, std::size_t count, float fill) {
  if (HWY_LIKELY(count == hn::Lanes(d))) return hn::LoadU(d, p);
  HWY_ALIGN float padded[hn::MaxLanes(d)];
  hn::Store(hn::Set(d, fill), d, padded);
  std::memcpy(padded, p, count * sizeof(float));
  return hn::Load(d, padded);
}

/// The first `count` lanes to p; writes nothing else.
template <class D>
HWY_INLINE void store_some(D d, hn::Vec<D> v, float* p, std::size_t count) {
  if (HWY_LIKELY(count == hn::Lanes(d))) return hn::StoreU(v, d, p);
  HWY_ALIGN float padded[hn::MaxLanes(d)];
  hn::Store(v, d, padded);
  std::memcpy(p, padded, count * sizeof(float));
}

}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
