#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"

namespace addnorm {

Var reshape(const Var& x, const Shape& shape) {
  detail::require_defined("reshape", "x", x);
  require(shape.elements() == x.value().elements(), "reshape: x is ", x.shape(), " and has ", x.value().elements(), " elements, ",
          shape, " has ", shape.elements());

  return record("reshape", {x}, x.value().reshape(shape),
                [before = x.shape()](const Tensor& dy, Grads& grads) { grads.give(0, dy.reshape(before)); });
}

}  // namespace addnorm
