#include "kernels/dyt.h"

#include <algorithm>

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dyt.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/activations-inl.h"
#include "kernels/transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {

void dyt_rows(const float* x, const float* gain, const float* beta, float alpha, std::size_t rows, std::size_t width, float* y) {
  const hn::ScalableTag<float> d;
  const auto a = hn::Set(d, alpha);
  for (std::size_t r = 0; r < rows; ++r)
    for_each_vector(
        width,
        [=](const float* in, const float* g, const float* b, float* out) HWY_ATTR {
          const auto t = Tanh::value(d, hn::Mul(a, hn::LoadU(d, in)));
          hn::StoreU(hn::MulAdd(hn::LoadU(d, g), t, hn::LoadU(d, b)), d, out);
        },
        x + r * width, gain, beta, y + r * width);
}

void dyt_grad_rows(const float* dy, const float* x, const float* gain, float alpha, std::size_t rows, std::size_t width,
                   float* dx, float* sums) {
  const hn::ScalableTag<float> d;
  const auto a = hn::Set(d, alpha);
  for (std::size_t r = 0; r < rows; ++r)
    for_each_vector(
        width,
        [=](const float* up, const float* in, const float* g, float* out, float* dgain, float* dbeta, float* dalpha) HWY_ATTR {
          const auto v = hn::LoadU(d, in);
          const auto u = hn::LoadU(d, up);
          const auto ax = hn::Mul(a, v);
          const auto through = hn::Mul(hn::Mul(u, hn::LoadU(d, g)), Tanh::slope(d, ax));
          hn::StoreU(hn::Mul(a, through), d, out);
          hn::StoreU(hn::MulAdd(u, Tanh::value(d, ax), hn::LoadU(d, dgain)), d, dgain);
          hn::StoreU(hn::Add(u, hn::LoadU(d, dbeta)), d, dbeta);
          hn::StoreU(hn::MulAdd(through, v, hn::LoadU(d, dalpha)), d, dalpha);
        },
        dy + r * width, x + r * width, gain, dx + r * width, sums, sums + width, sums + 2 * width);
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(dyt_rows);
HWY_EXPORT(dyt_grad_rows);
}  // namespace

void dyt(const float* x, const float* gain, const float* beta, float alpha, std::size_t rows, std::size_t width, float* y) {
  parallel_ranges(rows, kBlockRows, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(dyt_rows)(x + begin * width, gain, beta, alpha, end - begin, width, y + begin * width);
  });
}

void dyt_grad(const float* dy, const float* x, const float* gain, float alpha, std::size_t rows, std::size_t width,
              float* scratch, float* dx, float* sums) {
  parallel_ranges(rows, kBlockRows, [=](std::size_t begin, std::size_t end) {
    float* partial = scratch + begin / kBlockRows * 3 * width;
    std::fill_n(partial, 3 * width, 0.0f);
    HWY_DYNAMIC_DISPATCH(dyt_grad_rows)
    (dy + begin * width, x + begin * width, gain, alpha, end - begin, width, dx + begin * width, partial);
  });
  combine_partial_sums(scratch, row_blocks(rows), 3 * width, sums);
}

}  // namespace addnorm::kernels
#endif
