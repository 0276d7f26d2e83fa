#include "bench/machine/machine.h"

#include <hwy/cache_control.h>

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/machine/simd.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::bench::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <bool kStreaming, class D, class V>
HWY_INLINE void put(V v, D d, float* at) {
  if constexpr (kStreaming)
    hn::Stream(v, d, at);
  else
    hn::Store(v, d, at);
}

template <bool kStreaming>
void copy_part(const float* HWY_RESTRICT x, size_t n, float* HWY_RESTRICT y) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < n; i += 2 * lanes) {
    const auto x0 = hn::Load(d, x + i);
    const auto x1 = hn::Load(d, x + i + lanes);
    put<kStreaming>(x0, d, y + i);
    put<kStreaming>(x1, d, y + i + lanes);
  }
  if constexpr (kStreaming) hwy::FlushStream();
}

template <bool kStreaming>
void two_read_one_write_part(const float* HWY_RESTRICT x, const float* HWY_RESTRICT f, size_t n, float* HWY_RESTRICT y) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < n; i += 2 * lanes) {
    const auto y0 = hn::Add(hn::Load(d, x + i), hn::Load(d, f + i));
    const auto y1 = hn::Add(hn::Load(d, x + i + lanes), hn::Load(d, f + i + lanes));
    put<kStreaming>(y0, d, y + i);
    put<kStreaming>(y1, d, y + i + lanes);
  }
  if constexpr (kStreaming) hwy::FlushStream();
}

template <bool kStreaming>
void three_read_one_write_part(const float* HWY_RESTRICT x, const float* HWY_RESTRICT f, const float* HWY_RESTRICT g, size_t n,
                               float* HWY_RESTRICT y) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < n; i += 2 * lanes) {
    const auto y0 = hn::Add(hn::Add(hn::Load(d, x + i), hn::Load(d, f + i)), hn::Load(d, g + i));
    const auto y1 = hn::Add(hn::Add(hn::Load(d, x + i + lanes), hn::Load(d, f + i + lanes)), hn::Load(d, g + i + lanes));
    put<kStreaming>(y0, d, y + i);
    put<kStreaming>(y1, d, y + i + lanes);
  }
  if constexpr (kStreaming) hwy::FlushStream();
}

template <bool kStreaming>
void two_read_two_write_part(const float* HWY_RESTRICT x, const float* HWY_RESTRICT f, size_t n, float* HWY_RESTRICT s,
                             float* HWY_RESTRICT y) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < n; i += 2 * lanes) {
    const auto x0 = hn::Load(d, x + i);
    const auto x1 = hn::Load(d, x + i + lanes);
    const auto f0 = hn::Load(d, f + i);
    const auto f1 = hn::Load(d, f + i + lanes);
    put<kStreaming>(hn::Add(x0, f0), d, s + i);
    put<kStreaming>(hn::Add(x1, f1), d, s + i + lanes);
    put<kStreaming>(hn::Sub(x0, f0), d, y + i);
    put<kStreaming>(hn::Sub(x1, f1), d, y + i + lanes);
  }
  if constexpr (kStreaming) hwy::FlushStream();
}

template <bool kStreaming>
void move_part_with(Traffic traffic, float* const* arrays, size_t begin, size_t n) {
  const auto array = [=](size_t i) HWY_ATTR { return arrays[i] + begin; };
  switch (traffic) {
    case Traffic::copy:
      return copy_part<kStreaming>(array(0), n, array(1));
    case Traffic::two_read_one_write:
      return two_read_one_write_part<kStreaming>(array(0), array(1), n, array(2));
    case Traffic::three_read_one_write:
      return three_read_one_write_part<kStreaming>(array(0), array(1), array(2), n, array(3));
    case Traffic::two_read_two_write:
      return two_read_two_write_part<kStreaming>(array(0), array(1), n, array(2), array(3));
  }
}

/// n: a multiple of kPartStep floats.
void move_part(Traffic traffic, StoreKind stores, float* const* arrays, size_t begin, size_t n) {
  (stores == StoreKind::streaming ? move_part_with<true> : move_part_with<false>)(traffic, arrays, begin, n);
}

/// n: a multiple of kPartStep floats.
void read_part(const float* x, size_t n) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  auto even = hn::Zero(d), odd = hn::Zero(d);
  for (size_t i = 0; i < n; i += 2 * lanes) {
    even = hn::Add(even, hn::Load(d, x + i));
    odd = hn::Add(odd, hn::Load(d, x + i + lanes));
  }
  volatile float sink = hn::GetLane(hn::Add(even, odd));  // the sums must not be optimised away
  (void)sink;
}

}  // namespace
}  // namespace addnorm::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::bench {
namespace {
HWY_EXPORT(move_part);
HWY_EXPORT(read_part);
constexpr std::size_t kPartStep = 64;  // floats: two of the widest vectors, twice
}  // namespace

void move_memory(Traffic traffic, StoreKind stores, float* const* arrays, std::size_t floats) {
  const std::size_t parts = static_cast<std::size_t>(threads());
  const std::size_t part = floats / parts / kPartStep * kPartStep;
  parallel_blocks(parts, [=](std::size_t i) { HWY_DYNAMIC_DISPATCH(move_part)(traffic, stores, arrays, i * part, part); });
}

void read_memory(const float* array, std::size_t floats) {
  const std::size_t parts = static_cast<std::size_t>(threads());
  const std::size_t part = floats / parts / kPartStep * kPartStep;
  parallel_blocks(parts, [=](std::size_t i) { HWY_DYNAMIC_DISPATCH(read_part)(array + i * part, part); });
}

}  // namespace addnorm::bench
#endif
