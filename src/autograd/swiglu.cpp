#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/activations.h"
#include "kernels/elementwise.h"

namespace addnorm {
namespace {

using kernels::Activation;

/// da = dy * b * silu'(a), alone, with the bits of the pass that gives both. (db alone is not worth its own way: silu(a) by
/// itself is rounded differently, and a gradient must not depend on which others are wanted.)
Tensor gate_gradient(const Tensor& dy, const Tensor& a, const Tensor& b) {
  Tensor da(a.shape(), a.dtype());
  dispatch(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::multiply(dy.data<T>(), b.data<T>(), da.elements(), da.data<T>());
    kernels::activate_grad(Activation::silu, da.data<T>(), a.data<T>(), da.elements(), da.data<T>());
  });
  return da;
}

}  // namespace

Var swiglu(const Var& a, const Var& b) {
  detail::require_defined("swiglu", "a", a);
  detail::require_defined("swiglu", "b", b);
  require(a.shape() == b.shape(), "swiglu: a is ", a.shape(), ", b is ", b.shape());
  detail::require_same_dtype("swiglu", "a", a, "b", b);

  Tensor y(a.shape(), a.dtype());
  dispatch(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Rows flat = as_rows(a.shape());
    kernels::swiglu(a.data<T>(), b.data<T>(), flat.width, flat.rows, flat.width, y.data<T>());
  });

  return record("swiglu", {a, b}, std::move(y), [a = a.value(), b = b.value()](const Tensor& dy, Grads& grads) {
    if (!grads.wanted(1)) return grads.give(0, gate_gradient(dy, a, b));
    const Rows flat = as_rows(a.shape());
    Tensor da(a.shape(), a.dtype()), db(a.shape(), a.dtype());
    dispatch(a.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::swiglu_grad(dy.data<T>(), a.data<T>(), b.data<T>(), flat.width, flat.rows, flat.width, da.data<T>(), db.data<T>());
    });
    if (grads.wanted(0)) grads.give(0, std::move(da));
    grads.give(1, std::move(db));
  });
}

Var swiglu(const Var& ab) {
  detail::require_defined("swiglu", "ab", ab);
  require(ab.shape().rank() >= 1 && ab.shape().back() % 2 == 0, "swiglu: ab is ", ab.shape(),
          "; its last axis holds two halves, so it must be even");
  const auto [rows, packed] = as_rows(ab.shape());
  const std::size_t width = packed / 2;

  Tensor y(ab.shape().with(ab.shape().rank() - 1, width), ab.dtype());
  dispatch(ab.dtype(), [&, rows = rows](auto zero) {
    using T = decltype(zero);
    kernels::swiglu(ab.data<T>(), ab.data<T>() + width, 2 * width, rows, width, y.data<T>());
  });

  return record("swiglu", {ab}, std::move(y), [ab = ab.value(), rows = rows, width](const Tensor& dy, Grads& grads) {
    Tensor dab(ab.shape(), ab.dtype());
    dispatch(ab.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const T* a = ab.data<T>();
      T* da = dab.data<T>();
      kernels::swiglu_grad(dy.data<T>(), a, a + width, 2 * width, rows, width, da, da + width);
    });
    grads.give(0, std::move(dab));
  });
}

}  // namespace addnorm
