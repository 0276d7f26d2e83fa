#include "kernels/norm/dyt.h"

#include <algorithm>

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/dyt.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/elementwise/activations-inl.h"
#include "kernels/simd/transform-inl.h"

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

/// What comes through the tanh: dy * gain * tanh'(alpha x).
template <class D, class V>
HWY_INLINE V through(D d, V u, V gain, V ax) {
  return hn::Mul(hn::Mul(u, gain), Tanh::slope(d, ax));
}

template <class D, class V>
HWY_INLINE void add_to_sums(D d, V u, V x, V ax, V t, float* dgain, float* dbeta, float* dalpha) {
  hn::StoreU(hn::MulAdd(u, Tanh::value(d, ax), hn::LoadU(d, dgain)), d, dgain);
  hn::StoreU(hn::Add(u, hn::LoadU(d, dbeta)), d, dbeta);
  hn::StoreU(hn::MulAdd(t, x, hn::LoadU(d, dalpha)), d, dalpha);
}

/// dx and the sums, or one of them: null where not wanted.
void dyt_grad_rows(const float* dy, const float* x, const float* gain, float alpha, std::size_t rows, std::size_t width,
                   float* dx, float* sums) {
  const hn::ScalableTag<float> d;
  const auto a = hn::Set(d, alpha);
  const auto both = [=](const float* up, const float* in, const float* g, float* out, float* dgain, float* dbeta,
                        float* dalpha) HWY_ATTR {
    const auto u = hn::LoadU(d, up), v = hn::LoadU(d, in), ax = hn::Mul(a, v), t = through(d, u, hn::LoadU(d, g), ax);
    hn::StoreU(hn::Mul(a, t), d, out);
    add_to_sums(d, u, v, ax, t, dgain, dbeta, dalpha);
  };
  const auto only_dx = [=](const float* up, const float* in, const float* g, float* out) HWY_ATTR {
    const auto t = through(d, hn::LoadU(d, up), hn::LoadU(d, g), hn::Mul(a, hn::LoadU(d, in)));
    hn::StoreU(hn::Mul(a, t), d, out);
  };
  const auto only_sums = [=](const float* up, const float* in, const float* g, float* dgain, float* dbeta, float* dalpha)
                             HWY_ATTR {
                               const auto u = hn::LoadU(d, up), v = hn::LoadU(d, in), ax = hn::Mul(a, v);
                               add_to_sums(d, u, v, ax, through(d, u, hn::LoadU(d, g), ax), dgain, dbeta, dalpha);
                             };
  for (std::size_t r = 0; r < rows; ++r) {
    const float *row_dy = dy + r * width, *row_x = x + r * width;
    if (dx && sums) for_each_vector(width, both, row_dy, row_x, gain, dx + r * width, sums, sums + width, sums + 2 * width);
    if (dx && !sums) for_each_vector(width, only_dx, row_dy, row_x, gain, dx + r * width);
    if (sums && !dx) for_each_vector(width, only_sums, row_dy, row_x, gain, sums, sums + width, sums + 2 * width);
  }
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
    float* partial = sums ? scratch + begin / kBlockRows * 3 * width : nullptr;
    if (partial) std::fill_n(partial, 3 * width, 0.0f);
    HWY_DYNAMIC_DISPATCH(dyt_grad_rows)
    (dy + begin * width, x + begin * width, gain, alpha, end - begin, width, dx ? dx + begin * width : nullptr, partial);
  });
  if (sums) combine_partial_sums(scratch, row_blocks(rows), 3 * width, sums);
}

}  // namespace addnorm::kernels
#endif
