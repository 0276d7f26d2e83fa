// Elementary functions on vectors, one copy per instruction set. Include after hwy/highway.h inside a kernel's .cpp.
#if defined(ADDNORM_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_KERNELS_MATH_INL_H_
#undef ADDNORM_KERNELS_MATH_INL_H_
#else
#define ADDNORM_KERNELS_MATH_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {

/// x = n * ln 2 + r with n an integer and |r| <= ln 2 / 2; shifted = n + kExpShift.
template <class V>
struct ExpReduced {
  V r;
  V shifted;
};

/// Adding it leaves no bits after the binary point, so the sum is rounded to the nearest integer, and the last nine bits of the
/// sum are n + 127: moved up by 23 they are the float 2^n.
constexpr float kExpShift = 0x1.8p23f + 127.0f;

/// ln 2 is taken in two parts whose first has 12 bits: n times it is exact without fused products too.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE ExpReduced<V> exp_reduce(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V shifted = hn::MulAdd(x, hn::Set(d, 0x1.715476p0f), hn::Set(d, kExpShift));
  const V n = hn::Sub(shifted, hn::Set(d, kExpShift));
  const V r = hn::NegMulAdd(n, hn::Set(d, 0x1.62ep-1f), x);
  return {hn::NegMulAdd(n, hn::Set(d, 0x1.0bfbe8p-15f), r), shifted};
}

/// e^r - 1 = r + r^2 q(r): q of degree 4 is a minimax fit of ours (relative error of e^r 4e-9 for |r| <= ln 2 / 2, so only
/// roundings remain).
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V exp_less_one(D d, V r) {
  namespace hn = hwy::HWY_NAMESPACE;
  V q = hn::MulAdd(hn::Set(d, 0x1.6a2264p-10f), r, hn::Set(d, 0x1.123b08p-7f));
  q = hn::MulAdd(q, r, hn::Set(d, 0x1.5558f8p-5f));
  q = hn::MulAdd(q, r, hn::Set(d, 0x1.55549p-3f));
  q = hn::MulAdd(q, r, hn::Set(d, 0x1.fffffcp-2f));
  return hn::MulAdd(hn::Mul(r, r), q, r);
}

/// 2^n of a reduced argument; -126 <= n <= 127.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V exp_power(D d, V shifted) {
  namespace hn = hwy::HWY_NAMESPACE;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(hn::RebindToSigned<D>(), shifted)));
}

/// e^x within 2 ulp for every float: denormal results are rounded once more, below them 0, above the largest float
/// infinity, NaN stays NaN.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V exp(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<D> di;
  const V lowest = hn::Set(d, -104.0f);  // e^-104 is less than half the smallest denormal
  const V highest = hn::Set(d, 89.0f);
  // Clamped by selection, not by Min and Max: those may drop a NaN.
  V inside = hn::IfThenElse(hn::Lt(x, lowest), lowest, x);
  inside = hn::IfThenElse(hn::Gt(inside, highest), highest, inside);
  const ExpReduced<V> reduced = exp_reduce(d, inside);
  const V p = hn::Add(exp_less_one(d, reduced.r), hn::Set(d, 1.0f));
  // 2^n in two factors: n alone may lie outside the exponents of normal floats where e^x does not.
  const auto n = hn::Sub(hn::BitCast(di, reduced.shifted), hn::BitCast(di, hn::Set(d, kExpShift)));
  const auto half = hn::ShiftRight<1>(n);
  const auto bias = hn::Set(di, 127);
  const V first = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
  const V second = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(n, half), bias)));
  return hn::Mul(hn::Mul(p, first), second);
}

/// e^x for x <= 88, within 2 ulp; 0 where the result would be denormal (x < -87.33), -inf included. NaN stays NaN.
/// What softmax needs, and cheaper; a denormal probability would only slow the products that follow.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V exp_or_zero(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const ExpReduced<V> reduced = exp_reduce(d, x);
  const V y = hn::Mul(hn::Add(exp_less_one(d, reduced.r), hn::Set(d, 1.0f)), exp_power(d, reduced.shifted));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -0x1.5d589ep6f)), y);
}

/// e^x - 1 for -17 <= x <= 88, within 3 ulp, near 0 too: 2^n (e^r - 1) + (2^n - 1). NaN stays NaN.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V expm1(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const ExpReduced<V> reduced = exp_reduce(d, x);
  const V power = exp_power(d, reduced.shifted);
  return hn::MulAdd(power, exp_less_one(d, reduced.r), hn::Sub(power, hn::Set(d, 1.0f)));
}

}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
