#include "kernels/elementwise/elementwise.h"

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/elementwise.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// y[i] = op(a[i], b[i]) by whole vectors, the rest one by one with one-lane vectors of the same arithmetic.
template <class Op>
HWY_INLINE void transform(const float* a, const float* b, size_t n, float* y, Op op) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(op(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  for (; i < n; ++i) hn::StoreU(op(hn::LoadU(one, a + i), hn::LoadU(one, b + i)), one, y + i);
}

void add_block(const float* a, const float* b, size_t n, float* y) {
  transform(a, b, n, y, [](auto u, auto v) HWY_ATTR { return hn::Add(u, v); });
}
void subtract_block(const float* a, const float* b, size_t n, float* y) {
  transform(a, b, n, y, [](auto u, auto v) HWY_ATTR { return hn::Sub(u, v); });
}
void multiply_block(const float* a, const float* b, size_t n, float* y) {
  transform(a, b, n, y, [](auto u, auto v) HWY_ATTR { return hn::Mul(u, v); });
}
void scale_block(const float* x, float factor, size_t n, float* y) {
  transform(x, x, n, y, [factor](auto u, auto) HWY_ATTR { return hn::Mul(hn::Set(hn::DFromV<decltype(u)>(), factor), u); });
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(add_block);
HWY_EXPORT(subtract_block);
HWY_EXPORT(multiply_block);
HWY_EXPORT(scale_block);
constexpr std::size_t kArrayBlock = 32768;  // elements: 128 KiB per array, long against the cost of a fork
}  // namespace

void add(const float* a, const float* b, std::size_t n, float* y) {
  parallel_ranges(n, kArrayBlock, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(add_block)(a + begin, b + begin, end - begin, y + begin);
  });
}
void subtract(const float* a, const float* b, std::size_t n, float* y) {
  parallel_ranges(n, kArrayBlock, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(subtract_block)(a + begin, b + begin, end - begin, y + begin);
  });
}
void multiply(const float* a, const float* b, std::size_t n, float* y) {
  parallel_ranges(n, kArrayBlock, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(multiply_block)(a + begin, b + begin, end - begin, y + begin);
  });
}
void scale(const float* x, float factor, std::size_t n, float* y) {
  parallel_ranges(n, kArrayBlock, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(scale_block)(x + begin, factor, end - begin, y + begin);
  });
}

}  // namespace addnorm::kernels
#endif
