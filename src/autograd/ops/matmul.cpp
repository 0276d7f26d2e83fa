#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/gemm/gemm.h"

namespace addnorm {

Var matmul(const Var& a, const Var& b) {
  detail::require_defined("matmul", "a", a);
  detail::require_defined("matmul", "b", b);
  require(a.shape().rank() >= 1, "matmul: a is ", a.shape(), ", at least one axis is needed");
  require(b.shape().rank() == 2, "matmul: b is ", b.shape(), ", a matrix [k, n] is needed");
  require(a.shape().back() == b.shape()[0], "matmul: a is ", a.shape(), ", b is ", b.shape(),
          ": the last axis of a and the first of b must agree");
  detail::require_same_dtype("matmul", "a", a, "b", b);
  const std::size_t k = b.shape()[0], n = b.shape()[1];
  const std::size_t rows = as_rows(a.shape()).rows;

  Tensor y(a.shape().with(a.shape().rank() - 1, n), a.dtype());
  dispatch(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::gemm(kernels::GemmArgs<T>{.m = rows, .n = n, .k = k, .a = a.data<T>(), .b = b.data<T>(), .c = y.data<T>()});
  });

  return record("matmul", {a, b}, std::move(y), [a = a.value(), b = b.value(), rows, n, k](const Tensor& dy, Grads& grads) {
    dispatch(dy.dtype(), [&](auto zero) {
      using T = decltype(zero);
      if (grads.wanted(0)) {
        Tensor da(a.shape(), a.dtype());
        kernels::gemm(kernels::GemmArgs<T>{
            .m = rows, .n = k, .k = n, .a = dy.data<T>(), .b = b.data<T>(), .transpose_b = true, .c = da.data<T>()});
        grads.give(0, std::move(da));
      }
      if (grads.wanted(1)) {
        Tensor db(b.shape(), b.dtype());
        kernels::gemm(kernels::GemmArgs<T>{
            .m = k, .n = n, .k = rows, .a = a.data<T>(), .transpose_a = true, .b = dy.data<T>(), .c = db.data<T>()});
        grads.give(1, std::move(db));
      }
    });
  });
}

}  // namespace addnorm
