#include "kernels/gemm/parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/epilogue.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/elementwise/activations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {

struct Identity {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D, V x) {
    return x;
  }
};

/// The pointers of one row. They stand here by themselves: what is stored could otherwise be `args`, which would be read again
/// for every vector.
struct EpilogueRow {
  const float* product;
  const float* bias;
  float* pre;
  float* c;
  bool add;

  EpilogueRow(const EpilogueArgs& args, size_t row)
      : product(args.product + row * args.ldp),
        bias(args.bias),
        pre(args.pre == nullptr ? nullptr : args.pre + row * args.ldpre),
        c(args.c + row * args.ldc),
        add(args.add) {}

  /// pre = old + product + bias
  template <class D>
  HWY_INLINE hn::Vec<D> sum(D d, size_t column) const {
    auto v = hn::LoadU(d, product + column);
    if (add) v = hn::Add(hn::LoadU(d, c + column), v);
    if (bias != nullptr) v = hn::Add(v, hn::LoadU(d, bias + column));
    if (pre != nullptr) hn::StoreU(v, d, pre + column);
    return v;
  }
};

/// Two vectors at a time: one waits for its function's chain while the other goes on.
template <class F>
HWY_INLINE void finish_all(F, const EpilogueArgs& args) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(d), columns = args.columns;
  for (size_t i = 0; i < args.rows; ++i) {
    const EpilogueRow row(args, i);
    size_t column = 0;
    for (; column + 2 * lanes <= columns; column += 2 * lanes) {
      const auto first = row.sum(d, column), second = row.sum(d, column + lanes);
      const auto first_value = F::value(d, first), second_value = F::value(d, second);
      hn::StoreU(first_value, d, row.c + column);
      hn::StoreU(second_value, d, row.c + column + lanes);
    }
    for (; column + lanes <= columns; column += lanes) hn::StoreU(F::value(d, row.sum(d, column)), d, row.c + column);
    for (; column < columns; ++column) hn::StoreU(F::value(one, row.sum(one, column)), one, row.c + column);
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
