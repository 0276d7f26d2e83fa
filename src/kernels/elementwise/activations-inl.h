// Activation functions on vectors: value(d, x) and slope(d, x) of each, for the activation kernels and for epilogues.
#if defined(ADDNORM_KERNELS_ACTIVATIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_KERNELS_ACTIVATIONS_INL_H_
#undef ADDNORM_KERNELS_ACTIVATIONS_INL_H_
#else
#define ADDNORM_KERNELS_ACTIVATIONS_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/reference/activations.h"
#include "kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Whether Min and Max give their second operand where one is NaN, as on x86. Elsewhere they may drop it.
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
constexpr bool kSecondOfNan = true;
#else
constexpr bool kSecondOfNan = false;
#endif

/// Both keep a NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_most(D d, V x, float limit) {
  const V top = hn::Set(d, limit);
  if constexpr (kSecondOfNan) return hn::Min(top, x);
  return hn::IfThenElse(hn::Gt(x, top), top, x);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_least(D d, V x, float limit) {
  const V bottom = hn::Set(d, limit);
  if constexpr (kSecondOfNan) return hn::Max(bottom, x);
  return hn::IfThenElse(hn::Lt(x, bottom), bottom, x);
}

/// What the functions of the normal distribution are made of, with a = |x| cut at 13.2, where values are denormal and slopes
/// below 1e-37:
///   exp(-a^2 / 2) = near * power,   Phi(-a) = exp(-a^2 / 2) * mills
/// power is a power of two, and 0 where |x| was larger. Two chains of equal length that meet late: their users should
/// multiply mills and power first.
template <class V>
struct NormalParts {
  V cut;  // a
  V near;
  V power;
  V mills;
};

/// a^2 = high + low, as exactly as makes no difference to exp: a rounded square would be off by a^2 / 2 units.
template <class V>
struct Square {
  V high;
  V low;
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE Square<V> square(D d, V a) {
#if HWY_NATIVE_FMA
  (void)d;
  const V high = hn::Mul(a, a);
  return {high, hn::MulSub(a, a, high)};
#else
  const hn::RebindToUnsigned<D> du;
  const V front = hn::BitCast(d, hn::And(hn::BitCast(du, a), hn::Set(du, 0xfffff000u)));  // 12 bits: its square is exact
  return {hn::Mul(front, front), hn::Mul(hn::Sub(a, front), hn::Add(a, front))};
#endif
}

/// exp(-a^2 / 2): as exp in math-inl.h, with s = a^2 - 2 n ln 2 in place of r = -s / 2, which costs nothing: its coefficients
/// are those of exp_less_one, times powers of -1/2. Pairs first (Estrin), here and below: latency is what these functions wait
/// for.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void bell(D d, V x, NormalParts<V>& parts) {
  const Square<V> a2 = square(d, parts.cut);
  const V shifted = hn::MulAdd(a2.high, hn::Set(d, -0x1.715476p-1f), hn::Set(d, kExpShift));
  const V n = hn::Sub(shifted, hn::Set(d, kExpShift));  // negative
  const V s = hn::Add(hn::MulAdd(n, hn::Set(d, 0x1.0bfbe8p-14f), hn::MulAdd(n, hn::Set(d, 0x1.62ep0f), a2.high)), a2.low);
  const V s2 = hn::Mul(s, s);
  const auto pair = [=](float odd, float even) HWY_ATTR { return hn::MulAdd(hn::Set(d, odd), s, hn::Set(d, even)); };
  const V c46 = hn::MulAdd(hn::Set(d, 0x1.6a2264p-16f), s2, pair(-0x1.123b08p-12f, 0x1.5558f8p-9f));
  const V c23 = pair(-0x1.55549p-6f, 0x1.fffffcp-4f);
  parts.near = hn::MulAdd(hn::MulAdd(c46, s2, c23), s2, pair(-0.5f, 1.0f));
  parts.power = hn::IfThenZeroElse(hn::Lt(parts.cut, hn::Abs(x)), exp_power(d, shifted));
}

/// mills = P(q) / (a + k), q = (a - k) / (a + k): P is our fit of degree 9 on [0, 13.3], relative error 1.4e-8.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V mills(D d, V a) {
  const V k = hn::Set(d, 2.75f);
  const V t = hn::Div(hn::Set(d, 1.0f), hn::Add(a, k));
  const V q = hn::Mul(hn::Sub(a, k), t);
  const auto pair = [=](float odd, float even) HWY_ATTR { return hn::MulAdd(hn::Set(d, odd), q, hn::Set(d, even)); };
  const V q2 = hn::Mul(q, q), q4 = hn::Mul(q2, q2);
  const V p03 = hn::MulAdd(pair(-0x1.0f5d9cp-6f, 0x1.756b9cp-3f), q2, pair(-0x1.e5bd1ep-2f, 0x1.701efp-1f));
  const V p47 = hn::MulAdd(pair(-0x1.006258p-12f, 0x1.46ac38p-9f), q2, pair(0x1.a1ebf8p-9f, -0x1.0d677p-6f));
  const V p89 = pair(-0x1.43b1e2p-14f, -0x1.b812dp-12f);
  return hn::Mul(hn::MulAdd(hn::MulAdd(p89, q4, p47), q4, p03), t);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE NormalParts<V> normal_parts(D d, V x) {
  NormalParts<V> parts{};
  parts.cut = at_most(d, hn::Abs(x), 13.2f);
  bell(d, x, parts);
  parts.mills = mills(d, parts.cut);
  return parts;
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
  static HWY_INLINE V value(D d, V x) {  // max(x, 0) - a Phi(-a)
    const NormalParts<V> normal = normal_parts(d, x);
    return hn::NegMulAdd(hn::Mul(hn::Mul(normal.cut, normal.mills), normal.power), normal.near, at_least(d, x, 0.0f));
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V slope(D d, V x) {  // Phi(x) + x phi(x)
    const NormalParts<V> normal = normal_parts(d, x);
    const V bell = hn::Mul(normal.near, normal.power), tail = hn::Mul(normal.mills, bell);
    const V phi = hn::Mul(bell, hn::Set(d, 0x1.988454p-2f));  // 1 / sqrt(2 pi)
    const V cdf = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0f), tail));
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
HWY_INLINE void with_activation(ActivationKind kind, Call call) {
  switch (kind) {
    case ActivationKind::gelu:
      return call(Gelu());
    case ActivationKind::gelu_tanh:
      return call(GeluTanh());
    case ActivationKind::relu:
      return call(Relu());
    case ActivationKind::silu:
      return call(Silu());
    case ActivationKind::sigmoid:
      return call(Sigmoid());
    case ActivationKind::tanh:
      return call(Tanh());
  }
}

}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
