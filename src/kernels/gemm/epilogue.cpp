#include "kernels/gemm/epilogue.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/epilogue.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/activations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {

struct Identity {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D, V x) {
    return x;
  }
};

template <class F, class D>
HWY_INLINE void finish(D d, const EpilogueArgs& args, size_t row, size_t column) {
  float* c = args.c + row * args.ldc + column;
  auto v = hn::LoadU(d, args.product + row * args.ldp + column);
  if (args.add) v = hn::Add(hn::LoadU(d, c), v);
  if (args.bias != nullptr) v = hn::Add(v, hn::LoadU(d, args.bias + column));
  if (args.pre != nullptr) hn::StoreU(v, d, args.pre + row * args.ldpre + column);
  hn::StoreU(F::value(d, v), d, c);
}

template <class F>
HWY_INLINE void finish_all(F, const EpilogueArgs& args) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(d);
  for (size_t row = 0; row < args.rows; ++row) {
    size_t column = 0;
    for (; column + lanes <= args.columns; column += lanes) finish<F>(d, args, row, column);
    for (; column < args.columns; ++column) finish<F>(one, args, row, column);
  }
}

void epilogue(const EpilogueArgs& args) {
  if (!args.activation) return finish_all(Identity(), args);
  with_activation(*args.activation, [&](auto f) HWY_ATTR { finish_all(f, args); });
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(epilogue);
}
void gemm_epilogue(const EpilogueArgs& args) { HWY_DYNAMIC_DISPATCH(epilogue)(args); }
}  // namespace addnorm::kernels
#endif
