// sum and mean over all elements.
#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/reduce/reduce.h"

namespace addnorm {
namespace {

double total(const Tensor& x) {
  Tensor scratch({kernels::reduce_scratch(x.elements())}, DType::f64);
  return dispatch(x.dtype(),
                  [&](auto zero) { return kernels::sum(x.data<decltype(zero)>(), x.elements(), scratch.data<double>()); });
}

}  // namespace

Var sum(const Var& x) {
  detail::require_defined("sum", "x", x);

  return record(
      "sum", {x}, Tensor::full(Shape{}, total(x.value()), x.dtype()),
      [shape = x.shape()](const Tensor& dy, Grads& grads) { grads.give(0, Tensor::full(shape, dy.item(), dy.dtype())); });
}

Var mean(const Var& x) {
  detail::require_defined("mean", "x", x);
  require(x.value().elements() > 0, "mean: x is ", x.shape(), " and has no elements");
  const auto count = static_cast<double>(x.value().elements());

  return record("mean", {x}, Tensor::full(Shape{}, total(x.value()) / count, x.dtype()),
                [shape = x.shape(), count](const Tensor& dy, Grads& grads) {
                  grads.give(0, Tensor::full(shape, dy.item() / count, dy.dtype()));
                });
}

}  // namespace addnorm
