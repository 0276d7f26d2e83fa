#include "kernels/elementwise/activations.h"

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/activations.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/elementwise/activations-inl.h"
#include "kernels/simd/transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {

template <class F>
void value_block(F, const float* x, std::size_t n, float* y) {
  const hn::ScalableTag<float> d;
  for_each_vector(
      n, [d](const float* px, float* py) HWY_ATTR { hn::StoreU(F::value(d, hn::LoadU(d, px)), d, py); }, x, y);
}

template <class F>
void slope_block(F, const float* dy, const float* x, std::size_t n, float* dx) {
  const hn::ScalableTag<float> d;
  const auto body = [d](const float* pdy, const float* px, float* pdx)
                        HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, pdy), F::slope(d, hn::LoadU(d, px))), d, pdx); };
  for_each_vector(n, body, dy, x, dx);
}

template <class F>
void value_and_slope_block(F, const float* x, std::size_t n, float* y, float* slope) {
  const hn::ScalableTag<float> d;
  const auto body = [d](const float* px, float* py, float* ps) HWY_ATTR {
    const auto v = hn::LoadU(d, px);
    hn::StoreU(F::value(d, v), d, py);
    hn::StoreU(F::slope(d, v), d, ps);
  };
  for_each_vector(n, body, x, y, slope);
}

void activate_with_slope_block(ActivationKind kind, const float* x, std::size_t n, float* y, float* slope) {
  with_activation(kind, [=](auto f) HWY_ATTR { value_and_slope_block(f, x, n, y, slope); });
}
void activate_block(ActivationKind kind, const float* x, std::size_t n, float* y) {
  with_activation(kind, [=](auto f) HWY_ATTR { value_block(f, x, n, y); });
}
void activate_grad_block(ActivationKind kind, const float* dy, const float* x, std::size_t n, float* dx) {
  with_activation(kind, [=](auto f) HWY_ATTR { slope_block(f, dy, x, n, dx); });
}

void swiglu_block(const float* a, const float* b, std::size_t stride, std::size_t rows, std::size_t width, float* y) {
  const hn::ScalableTag<float> d;
  const auto body = [d](const float* pa, const float* pb, float* py)
                        HWY_ATTR { hn::StoreU(hn::Mul(Silu::value(d, hn::LoadU(d, pa)), hn::LoadU(d, pb)), d, py); };
  for (std::size_t r = 0; r < rows; ++r) for_each_vector(width, body, a + r * stride, b + r * stride, y + r * width);
}

/// da of one vector, db of one vector: written together or alone, from the same sigmoid by the same steps.
template <class D, class V, class Parts>
HWY_INLINE void store_da(D d, V g, V gate, const Parts& parts, const float* b, float* da) {
  const auto slope = hn::MulAdd(at_most(d, at_least(d, gate, -Silu::kEnd), Silu::kEnd), parts.slope, parts.s);
  hn::StoreU(hn::Mul(hn::Mul(g, hn::LoadU(d, b)), slope), d, da);
}
template <class D, class V, class Parts>
HWY_INLINE void store_db(D d, V g, V gate, const Parts& parts, float* db) {
  hn::StoreU(hn::Mul(g, hn::Mul(at_least(d, gate, -Silu::kEnd), parts.s)), d, db);
}

void swiglu_grad_block(const float* dy, const float* a, const float* b, std::size_t stride, std::size_t rows, std::size_t width,
                       float* da, float* db) {
  const hn::ScalableTag<float> d;
  const auto both = [d](const float* pdy, const float* pa, const float* pb, float* pda, float* pdb) HWY_ATTR {
    const auto g = hn::LoadU(d, pdy), gate = hn::LoadU(d, pa);
    const auto parts = sigmoid_parts(d, gate);
    store_da(d, g, gate, parts, pb, pda);
    store_db(d, g, gate, parts, pdb);
  };
  const auto only_da = [d](const float* pdy, const float* pa, const float* pb, float* pda) HWY_ATTR {
    const auto gate = hn::LoadU(d, pa);
    store_da(d, hn::LoadU(d, pdy), gate, sigmoid_parts(d, gate), pb, pda);
  };
  const auto only_db = [d](const float* pdy, const float* pa, float* pdb) HWY_ATTR {
    const auto gate = hn::LoadU(d, pa);
    store_db(d, hn::LoadU(d, pdy), gate, sigmoid_parts(d, gate), pdb);
  };
  for (std::size_t r = 0; r < rows; ++r) {
    const float *row_dy = dy + r * width, *row_a = a + r * stride, *row_b = b + r * stride;
    if (da && db) for_each_vector(width, both, row_dy, row_a, row_b, da + r * stride, db + r * stride);
    if (da && !db) for_each_vector(width, only_da, row_dy, row_a, row_b, da + r * stride);
    if (db && !da) for_each_vector(width, only_db, row_dy, row_a, db + r * stride);
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(activate_block);
HWY_EXPORT(activate_grad_block);
HWY_EXPORT(activate_with_slope_block);
HWY_EXPORT(swiglu_block);
HWY_EXPORT(swiglu_grad_block);
constexpr std::size_t kActivationBlock = 16384;  // elements: some ten microseconds of work
}  // namespace

void activate(ActivationKind kind, const float* x, std::size_t n, float* y) {
  parallel_ranges(n, kActivationBlock, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(activate_block)(kind, x + begin, end - begin, y + begin);
  });
}

void activate_with_slope(ActivationKind kind, const float* x, std::size_t n, float* y, float* slope) {
  parallel_ranges(n, kActivationBlock, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(activate_with_slope_block)(kind, x + begin, end - begin, y + begin, slope + begin);
  });
}

void activate_grad(ActivationKind kind, const float* dy, const float* x, std::size_t n, float* dx) {
  parallel_ranges(n, kActivationBlock, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(activate_grad_block)(kind, dy + begin, x + begin, end - begin, dx + begin);
  });
}

void swiglu(const float* a, const float* b, std::size_t stride, std::size_t rows, std::size_t width, float* y) {
  parallel_ranges(rows, rows_per_block(width), [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(swiglu_block)(a + begin * stride, b + begin * stride, stride, end - begin, width, y + begin * width);
  });
}

void swiglu_grad(const float* dy, const float* a, const float* b, std::size_t stride, std::size_t rows, std::size_t width,
                 float* da, float* db) {
  parallel_ranges(rows, rows_per_block(width), [=](std::size_t begin, std::size_t end) {
    const std::size_t at = begin * stride;
    HWY_DYNAMIC_DISPATCH(swiglu_grad_block)
    (dy + begin * width, a + at, b + at, stride, end - begin, width, da ? da + at : nullptr, db ? db + at : nullptr);
  });
}

}  // namespace addnorm::kernels
#endif
