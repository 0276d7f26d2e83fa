#include "kernels/reduce/weighted_sum.h"

#include "addnorm/core/parallel.h"
#include "kernels/reduce/column_blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce/weighted_sum.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/simd/doubles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// body(d, i) with whole vectors of floats, then with one lane.
template <class Body>
HWY_INLINE void for_each_float(size_t begin, size_t end, Body body) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(d);
  size_t i = begin;
  for (; i + lanes <= end; i += lanes) body(d, i);
  for (; i < end; ++i) body(one, i);
}

/// Array after array: y stays in the first-level cache, and the hardware follows two streams however many arrays there are.
/// The first array is added to 0 in registers: y may be that array.
void weighted_block(const float* const* xs, const float* w, size_t count, size_t begin, size_t end, float* y) {
  if (count == 0) return for_each_float(begin, end, [=](auto d, size_t i) HWY_ATTR { hn::StoreU(hn::Zero(d), d, y + i); });
  const float* first = xs[0];
  const float weight = w[0];
  for_each_float(begin, end, [=](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::Add(hn::Zero(d), hn::Mul(hn::Set(d, weight), hn::LoadU(d, first + i))), d, y + i);
  });
  for (size_t k = 1; k < count; ++k) {
    const float* x = xs[k];
    const float factor = w[k];
    for_each_float(begin, end, [=](auto d, size_t i) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::Mul(hn::Set(d, factor), hn::LoadU(d, x + i))), d, y + i);
    });
  }
}

void grad_block(const float* dy, const float* const* xs, const float* w, size_t count, size_t begin, size_t end,
                float* const* dxs, double* dw) {
  for (size_t k = 0; k < count; ++k) {
    const float* x = xs[k] + begin;
    const float* up = dy + begin;
    if (dw != nullptr)
      dw[k] = doubles::sum_of(
          end - begin, [=](auto d, size_t i) HWY_ATTR { return hn::Mul(doubles::load(d, up + i), doubles::load(d, x + i)); });
    float* dx = dxs[k];
    const float factor = w[k];
    if (dx != nullptr)
      for_each_float(begin, end, [=](auto d, size_t i) HWY_ATTR {
        hn::StoreU(hn::Mul(hn::Set(d, factor), hn::LoadU(d, dy + i)), d, dx + i);
      });
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(weighted_block);
HWY_EXPORT(grad_block);
constexpr std::size_t kSumBlock = 4096;  // elements: dy, x and dx of a block fit the second-level cache, dy the first
}  // namespace

void weighted_sum(const float* const* xs, const float* w, std::size_t count, std::size_t n, float* y) {
  parallel_ranges(n, kSumBlock, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(weighted_block)(xs, w, count, begin, end, y);
  });
}

std::size_t weighted_sum_grad_scratch(std::size_t count, std::size_t n) { return (n + kSumBlock - 1) / kSumBlock * count; }

void weighted_sum_grad(const float* dy, const float* const* xs, const float* w, std::size_t count, std::size_t n, double* scratch,
                       float* const* dxs, double* dw) {
  parallel_ranges(n, kSumBlock, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(grad_block)
    (dy, xs, w, count, begin, end, dxs, dw == nullptr ? nullptr : scratch + begin / kSumBlock * count);
  });
  if (dw != nullptr) combine_column_blocks(scratch, (n + kSumBlock - 1) / kSumBlock, count, count, dw);
}

}  // namespace addnorm::kernels
#endif
