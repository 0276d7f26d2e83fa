#include "kernels/gemm/epilogue.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/epilogue.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE void finish(D d, const EpilogueArgs& args, size_t row, size_t column) {
  float* c = args.c + row * args.ldc + column;
  auto v = hn::LoadU(d, args.product + row * args.ldp + column);
  if (args.add) v = hn::Add(hn::LoadU(d, c), v);
  if (args.bias != nullptr) v = hn::Add(v, hn::LoadU(d, args.bias + column));
  hn::StoreU(v, d, c);
}

void epilogue(const EpilogueArgs& args) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(d);
  for (size_t row = 0; row < args.rows; ++row) {
    size_t column = 0;
    for (; column + lanes <= args.columns; column += lanes) finish(d, args, row, column);
    for (; column < args.columns; ++column) finish(one, args, row, column);
  }
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
