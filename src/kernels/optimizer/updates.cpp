#include "kernels/optimizer/updates.h"

#include <limits>

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer/updates.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/simd/transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {

/// 0 for what is denormal; NaN stays.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V normal_or_zero(D d, V x) {
  return hn::IfThenZeroElse(hn::Lt(hn::Abs(x), hn::Set(d, std::numeric_limits<float>::min())), x);
}

void adam_piece(const UpdatePiece<float>& piece, const reference::AdamFactors& f) {
  const hn::ScalableTag<float> d;
  const auto constant = [d](double value) HWY_ATTR { return hn::Set(d, static_cast<float>(value)); };
  const auto shrink = constant(f.shrink), decay = constant(f.decay), gain1 = constant(f.gain1), gain2 = constant(f.gain2);
  const auto step_size = constant(f.step_size), root_scale = constant(f.root_scale), eps = constant(f.eps);
  const auto scale = constant(f.scale);
  const auto body = [=](const float* pg, float* pp, float* pm, float* pv) HWY_ATTR {
    const auto before = hn::LoadU(d, pp), m0 = hn::LoadU(d, pm), v0 = hn::LoadU(d, pv);
    const auto gradient = hn::MulAdd(decay, before, hn::Mul(scale, hn::LoadU(d, pg)));
    const auto m1 = normal_or_zero(d, hn::MulAdd(gain1, hn::Sub(gradient, m0), m0));
    const auto v1 = normal_or_zero(d, hn::MulAdd(gain2, hn::MulSub(gradient, gradient, v0), v0));
    const auto root = hn::MulAdd(hn::Sqrt(v1), root_scale, eps);
    const auto change = hn::MulAdd(step_size, hn::Div(m1, root), hn::Mul(shrink, before));
    hn::StoreU(hn::Sub(before, change), d, pp);
    hn::StoreU(m1, d, pm);
    hn::StoreU(v1, d, pv);
  };
  for_each_vector(piece.n, body, piece.g, piece.p, piece.m, piece.v);
}
void adam_pieces(std::span<const UpdatePiece<float>> pieces, const reference::AdamFactors* groups) {
  for (const UpdatePiece<float>& piece : pieces) adam_piece(piece, groups[piece.group]);
}

void sgd_piece(const UpdatePiece<float>& piece, const SgdSettings& s) {
  const hn::ScalableTag<float> d;
  const auto lr = hn::Set(d, static_cast<float>(s.lr)), momentum = hn::Set(d, static_cast<float>(s.momentum));
  const auto decay = hn::Set(d, static_cast<float>(s.weight_decay)), scale = hn::Set(d, static_cast<float>(s.gradient_scale));
  if (s.momentum == 0) {
    const auto body = [=](const float* pg, float* pp) HWY_ATTR {
      const auto before = hn::LoadU(d, pp);
      hn::StoreU(hn::NegMulAdd(lr, hn::MulAdd(decay, before, hn::Mul(scale, hn::LoadU(d, pg))), before), d, pp);
    };
    return for_each_vector(piece.n, body, piece.g, piece.p);
  }
  const bool nesterov = s.nesterov;
  const auto body = [=](const float* pg, float* pp, float* pv) HWY_ATTR {
    const auto before = hn::LoadU(d, pp);
    const auto gradient = hn::MulAdd(decay, before, hn::Mul(scale, hn::LoadU(d, pg)));
    const auto v = normal_or_zero(d, hn::MulAdd(momentum, hn::LoadU(d, pv), gradient));
    const auto direction = nesterov ? hn::MulAdd(momentum, v, gradient) : v;
    hn::StoreU(hn::NegMulAdd(lr, direction, before), d, pp);
    hn::StoreU(v, d, pv);
  };
  for_each_vector(piece.n, body, piece.g, piece.p, piece.m);
}
void sgd_pieces(std::span<const UpdatePiece<float>> pieces, const SgdSettings* groups) {
  for (const UpdatePiece<float>& piece : pieces) sgd_piece(piece, groups[piece.group]);
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(adam_pieces);
HWY_EXPORT(sgd_pieces);
constexpr std::size_t kUpdateBlock = 16384;
}  // namespace

void adam(std::span<const UpdatePiece<float>> pieces, const reference::AdamFactors* groups) {
  HWY_DYNAMIC_DISPATCH(adam_pieces)(pieces, groups);
}
void adam(const float* g, const AdamSettings& settings, std::size_t n, float* p, float* m, float* v) {
  const reference::AdamFactors factors(settings);
  parallel_ranges(n, kUpdateBlock, [&](std::size_t begin, std::size_t end) {
    const UpdatePiece<float> piece{g + begin, p + begin, m + begin, v + begin, end - begin, 0};
    adam({&piece, 1}, &factors);
  });
}

void sgd(std::span<const UpdatePiece<float>> pieces, const SgdSettings* groups) {
  HWY_DYNAMIC_DISPATCH(sgd_pieces)(pieces, groups);
}
void sgd(const float* g, const SgdSettings& settings, std::size_t n, float* p, float* velocity) {
  parallel_ranges(n, kUpdateBlock, [&](std::size_t begin, std::size_t end) {
    const UpdatePiece<float> piece{g + begin, p + begin,   velocity == nullptr ? nullptr : velocity + begin,
                                   nullptr,   end - begin, 0};
    sgd({&piece, 1}, &settings);
  });
}

}  // namespace addnorm::kernels
#endif
