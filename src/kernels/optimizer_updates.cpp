#include "kernels/optimizer_updates.h"

#include <limits>

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer_updates.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {

/// 0 for what is denormal; NaN stays.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V normal_or_zero(D d, V x) {
  return hn::IfThenZeroElse(hn::Lt(hn::Abs(x), hn::Set(d, std::numeric_limits<float>::min())), x);
}

void adam_block(const float* g, const reference::AdamFactors& f, double eps_wide, std::size_t n, float* p, float* m, float* v) {
  const hn::ScalableTag<float> d;
  const auto constant = [d](double value) HWY_ATTR { return hn::Set(d, static_cast<float>(value)); };
  const auto shrink = constant(f.shrink), decay = constant(f.decay), gain1 = constant(f.gain1), gain2 = constant(f.gain2);
  const auto step_size = constant(f.step_size), root_scale = constant(f.root_scale), eps = constant(eps_wide);
  const auto body = [=](const float* pg, float* pp, float* pm, float* pv) HWY_ATTR {
    const auto before = hn::LoadU(d, pp), m0 = hn::LoadU(d, pm), v0 = hn::LoadU(d, pv);
    const auto gradient = hn::MulAdd(decay, before, hn::LoadU(d, pg));
    const auto m1 = normal_or_zero(d, hn::MulAdd(gain1, hn::Sub(gradient, m0), m0));
    const auto v1 = normal_or_zero(d, hn::MulAdd(gain2, hn::MulSub(gradient, gradient, v0), v0));
    const auto root = hn::MulAdd(hn::Sqrt(v1), root_scale, eps);
    const auto change = hn::MulAdd(step_size, hn::Div(m1, root), hn::Mul(shrink, before));
    hn::StoreU(hn::Sub(before, change), d, pp);
    hn::StoreU(m1, d, pm);
    hn::StoreU(v1, d, pv);
  };
  for_each_vector(n, body, g, p, m, v);
}

void sgd_block(const float* g, const SgdSettings& s, std::size_t n, float* p, float* velocity) {
  const hn::ScalableTag<float> d;
  const auto lr = hn::Set(d, static_cast<float>(s.lr)), momentum = hn::Set(d, static_cast<float>(s.momentum));
  const auto decay = hn::Set(d, static_cast<float>(s.weight_decay));
  if (s.momentum == 0) {
    const auto body = [=](const float* pg, float* pp) HWY_ATTR {
      const auto before = hn::LoadU(d, pp);
      hn::StoreU(hn::NegMulAdd(lr, hn::MulAdd(decay, before, hn::LoadU(d, pg)), before), d, pp);
    };
    return for_each_vector(n, body, g, p);
  }
  const bool nesterov = s.nesterov;
  const auto body = [=](const float* pg, float* pp, float* pv) HWY_ATTR {
    const auto before = hn::LoadU(d, pp);
    const auto gradient = hn::MulAdd(decay, before, hn::LoadU(d, pg));
    const auto v = normal_or_zero(d, hn::MulAdd(momentum, hn::LoadU(d, pv), gradient));
    const auto direction = nesterov ? hn::MulAdd(momentum, v, gradient) : v;
    hn::StoreU(hn::NegMulAdd(lr, direction, before), d, pp);
    hn::StoreU(v, d, pv);
  };
  for_each_vector(n, body, g, p, velocity);
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(adam_block);
HWY_EXPORT(sgd_block);
constexpr std::size_t kBlock = 16384;
}  // namespace

void adam(const float* g, const AdamSettings& settings, std::size_t n, float* p, float* m, float* v) {
  const reference::AdamFactors factors(settings);
  parallel_ranges(n, kBlock, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(adam_block)(g + begin, factors, settings.eps, end - begin, p + begin, m + begin, v + begin);
  });
}

void sgd(const float* g, const SgdSettings& settings, std::size_t n, float* p, float* velocity) {
  parallel_ranges(n, kBlock, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(sgd_block)
    (g + begin, settings, end - begin, p + begin, velocity == nullptr ? nullptr : velocity + begin);
  });
}

}  // namespace addnorm::kernels
#endif
