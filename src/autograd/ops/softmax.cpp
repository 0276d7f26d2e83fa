#include "kernels/reduce/softmax.h"

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"

namespace addnorm {
namespace {

enum class Scale { probabilities, logarithms };

void check(const char* name, const Var& x) {
  detail::require_defined(name, "x", x);
  require(x.shape().rank() >= 1, name, ": x is a scalar; it needs an axis to normalise over");
}

Tensor forward(Scale scale, const Tensor& x) {
  const auto [rows, width] = as_rows(x.shape());
  Tensor y(x.shape(), x.dtype());
  dispatch(x.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    if (scale == Scale::probabilities)
      kernels::softmax(x.data<T>(), rows, width, y.data<T>());
    else
      kernels::log_softmax(x.data<T>(), rows, width, y.data<T>());
  });
  return y;
}

Tensor gradient(Scale scale, const Tensor& dy, const Tensor& y) {
  const auto [rows, width] = as_rows(y.shape());
  Tensor dx(y.shape(), y.dtype());
  dispatch(y.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    if (scale == Scale::probabilities)
      kernels::softmax_grad(dy.data<T>(), y.data<T>(), rows, width, dx.data<T>());
    else
      kernels::log_softmax_grad(dy.data<T>(), y.data<T>(), rows, width, dx.data<T>());
  });
  return dx;
}

Var normalise(const char* name, Scale scale, const Var& x) {
  check(name, x);

  const Tensor y = forward(scale, x.value());

  return record(name, {x}, y, [scale, y](const Tensor& dy, Grads& grads) { grads.give(0, gradient(scale, dy, y)); });
}

}  // namespace

Var softmax(const Var& x) { return normalise("softmax", Scale::probabilities, x); }
Var log_softmax(const Var& x) { return normalise("log_softmax", Scale::logarithms, x); }

}  // namespace addnorm
