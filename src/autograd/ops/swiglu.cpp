#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/elementwise/activations.h"

namespace addnorm {
Var swiglu(const Var& a, const Var& b) {
  detail::require_alike("swiglu", a, b);

  Tensor y(a.shape(), a.dtype());
  dispatch(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Rows flat = as_rows(a.shape());
    kernels::swiglu(a.data<T>(), b.data<T>(), flat.width, flat.rows, flat.width, y.data<T>());
  });

  return record("swiglu", {a, b}, std::move(y), [a = a.value(), b = b.value()](const Tensor& dy, Grads& grads) {
    const Rows flat = as_rows(a.shape());
    Tensor da = grads.wanted(0) ? Tensor(a.shape(), a.dtype()) : Tensor();
    Tensor db = grads.wanted(1) ? Tensor(a.shape(), a.dtype()) : Tensor();
    dispatch(a.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::swiglu_grad(dy.data<T>(), a.data<T>(), b.data<T>(), flat.width, flat.rows, flat.width,
                           da.defined() ? da.data<T>() : nullptr, db.defined() ? db.data<T>() : nullptr);
    });
    if (da.defined()) grads.give(0, std::move(da));
    if (db.defined()) grads.give(1, std::move(db));
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
