// Activation functions on vectors: value(d, x) and slope(d, x) of each, for the activation kernels and for epilogues.
#if defined(ADDNORM_KERNELS_ACTIVATIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_KERNELS_ACTIVATIONS_INL_H_
#undef ADDNORM_KERNELS_ACTIVATIONS_INL_H_
#else
#define ADDNORM_KERNELS_ACTIVATIONS_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/math-inl.h"
#include "kernels/reference/activations.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Clamped by selection, which keeps a NaN; Min and Max may drop it.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_most(D d, V x, float limit) {
  const V top = hn::Set(d, limit);
  return hn::IfThenElse(hn::Gt(x, top), top, x);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_least(D d, V x, float limit) {
  const V bottom = hn::Set(d, limit);
  return hn::IfThenElse(hn::Lt(x, bottom), bottom, x);
}

/// What the normal distribution's functions are made of: tail = Phi(-|x|), bell = exp(-x^2 / 2), and |x| cut at 14, where
/// both are 0.
template <class V>
struct NormalParts {
  V tail;
  V bell;
  V cut;
};

/// Phi(-a) = exp(-a^2 / 2) * M(a) with M(a) = P(q) / (a + k), q = (a - k) / (a + k): P is our fit of degree 9 on [0, 13.3],
/// relative error 1.4e-8. The square is split, so that its rounding (which exp would multiply by a^2 / 2) does not show.
template <class D, class V = hn::Vec<D>>
HWY_INLINE NormalParts<V> normal_parts(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const V a = at_most(d, hn::Abs(x), 14.0f);
  const V half = hn::Set(d, 0.5f);
  const V high = hn::BitCast(d, hn::And(hn::BitCast(du, a), hn::Set(du, 0xfffff000u)));  // 12 bits: its square is exact
  const V low = hn::Mul(hn::Mul(hn::Sub(high, a), hn::Add(high, a)), half);
  const V bell = exp_or_zero(d, hn::Neg(hn::Mul(hn::Mul(high, high), half)), low);

  const V k = hn::Set(d, 2.75f);
  const V t = hn::Div(hn::Set(d, 1.0f), hn::Add(a, k));
  const V q = hn::Mul(hn::Sub(a, k), t);
  // Pairs first (Estrin): a third of the latency of one term after the other, which is what this function waits for.
  const auto pair = [=](float odd, float even) HWY_ATTR { return hn::MulAdd(hn::Set(d, odd), q, hn::Set(d, even)); };
  const V q2 = hn::Mul(q, q), q4 = hn::Mul(q2, q2);
  const V p03 = hn::MulAdd(pair(-0x1.0f5d9cp-6f, 0x1.756b9cp-3f), q2, pair(-0x1.e5bd1ep-2f, 0x1.701efp-1f));
  const V p47 = hn::MulAdd(pair(-0x1.006258p-12f, 0x1.46ac38p-9f), q2, pair(0x1.a1ebf8p-9f, -0x1.0d677p-6f));
  const V p89 = pair(-0x1.43b1e2p-14f, -0x1.b812dp-12f);
  const V p = hn::MulAdd(hn::MulAdd(p89, q4, p47), q4, p03);
  return {hn::Mul(hn::Mul(p, t), bell), bell, a};
}

/// 1 / (1 + e^-x) from z = e^-|x|, which cannot overflow and keeps the tail for x << 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V z = exp_or_zero(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), z, one), hn::Add(one, z));
}

template <class V>
struct SigmoidParts {
  V s;      // sigmoid
  V slope;  // s (1 - s), without the cancellation of 1 - s
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE SigmoidParts<V> sigmoid_parts(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V z = exp_or_zero(d, hn::Neg(hn::Abs(x)));
  const V inverse = hn::Div(one, hn::Add(one, z));
  const V other = hn::Mul(z, inverse);
  return {hn::IfThenElse(hn::Lt(x, hn::Zero(d)), other, inverse), hn::Mul(other, inverse)};
}

struct Gelu {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {
    const NormalParts<V> normal = normal_parts(d, x);
    return hn::Sub(at_least(d, x, 0.0f), hn::Mul(normal.cut, normal.tail));
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V slope(D d, V x) {  // Phi(x) + x phi(x)
    const NormalParts<V> normal = normal_parts(d, x);
    const V phi = hn::Mul(normal.bell, hn::Set(d, 0x1.988454p-2f));  // 1 / sqrt(2 pi)
    const V cdf = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), normal.tail, hn::Sub(hn::Set(d, 1.0f), normal.tail));
    return hn::MulAdd(hn::CopySign(normal.cut, x), phi, cdf);
  }
};

struct GeluTanh {
  static constexpr float kTwiceRoot = 0x1.988454p0f;  // 2 sqrt(2 / pi)
  static constexpr float kCubic = 0x1.2444f2p-4f;     // 0.044715 times it
  static constexpr float kEnd = 16.0f;                // beyond, the sigmoid is 0 or 1
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {
    const V xc = at_most(d, at_least(d, x, -kEnd), kEnd);
    const V v = hn::Mul(xc, hn::MulAdd(hn::Mul(xc, xc), hn::Set(d, kCubic), hn::Set(d, kTwiceRoot)));
    return hn::Mul(at_least(d, x, -kEnd), sigmoid(d, v));
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V slope(D d, V x) {
    const V xc = at_most(d, at_least(d, x, -kEnd), kEnd);
    const V cubic = hn::Mul(hn::Mul(xc, xc), hn::Set(d, kCubic));
    const V root = hn::Set(d, kTwiceRoot);
    const SigmoidParts<V> parts = sigmoid_parts(d, hn::Mul(xc, hn::Add(cubic, root)));
    const V dv = hn::MulAdd(cubic, hn::Set(d, 3.0f), root);
    return hn::MulAdd(hn::Mul(xc, dv), parts.slope, parts.s);
  }
};

struct Relu {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {
    return at_least(d, x, 0.0f);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V slope(D d, V x) {
    return hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), hn::Set(d, 1.0f));
  }
};

struct Silu {
  static constexpr float kEnd = 104.0f;  // e^-104 is 0
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {
    return hn::Mul(at_least(d, x, -kEnd), sigmoid(d, x));
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V slope(D d, V x) {
    const SigmoidParts<V> parts = sigmoid_parts(d, x);
    return hn::MulAdd(at_most(d, at_least(d, x, -kEnd), kEnd), parts.slope, parts.s);
  }
};

struct Sigmoid {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {
    return sigmoid(d, x);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V slope(D d, V x) {
    return sigmoid_parts(d, x).slope;
  }
};

struct Tanh {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {  // e / (e + 2) with e = exp(2|x|) - 1; 1 in float from |x| = 9.02 on
    const V e = expm1(d, at_most(d, hn::Add(hn::Abs(x), hn::Abs(x)), 20.0f));
    return hn::CopySign(hn::Div(e, hn::Add(e, hn::Set(d, 2.0f))), x);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V slope(D d, V x) {  // 4 s(2x) (1 - s(2x))
    return hn::Mul(hn::Set(d, 4.0f), sigmoid_parts(d, hn::Add(x, x)).slope);
  }
};

/// call(F()) with the functions F of that kind.
template <class Call>
HWY_INLINE void with_activation(Activation kind, Call call) {
  switch (kind) {
    case Activation::gelu:
      return call(Gelu());
    case Activation::gelu_tanh:
      return call(GeluTanh());
    case Activation::relu:
      return call(Relu());
    case Activation::silu:
      return call(Silu());
    case Activation::sigmoid:
      return call(Sigmoid());
    case Activation::tanh:
      return call(Tanh());
  }
}

}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
