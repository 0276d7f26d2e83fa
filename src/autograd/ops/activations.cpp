#include "kernels/elementwise/activations.h"

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "autograd/graph.h"

namespace addnorm {
namespace {

using kernels::ActivationKind;

Tensor activated(ActivationKind kind, const Tensor& x) {
  Tensor y(x.shape(), x.dtype());
  dispatch(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::activate(kind, x.data<T>(), y.elements(), y.data<T>());
  });
  return y;
}

/// Backward reads the input, not the output: that is what is kept anyway, and gelu cannot be undone.
Var activate(const char* name, ActivationKind kind, const Var& x) {
  detail::require_defined(name, "x", x);

  Tensor y = activated(kind, x.value());

  const Var result = record(name, {x}, std::move(y), [kind, x = x.value()](const Tensor& dy, Grads& grads) {
    if (!grads.wanted(0)) return;
    Tensor dx(x.shape(), x.dtype());
    dispatch(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::activate_grad(kind, dy.data<T>(), x.data<T>(), dx.elements(), dx.data<T>());
    });
    grads.give(0, std::move(dx));
  });
  detail::computed_again_by(result, [kind, x = x.value()] { return activated(kind, x); });
  return result;
}

}  // namespace

Var gelu(const Var& x, GeluForm form) {
  require_one_of("gelu", "form", form, "GeluForm", {"exact", "tanh"});
  return activate("gelu", form == GeluForm::exact ? ActivationKind::gelu : ActivationKind::gelu_tanh, x);
}
Var relu(const Var& x) { return activate("relu", ActivationKind::relu, x); }
Var silu(const Var& x) { return activate("silu", ActivationKind::silu, x); }
Var sigmoid(const Var& x) { return activate("sigmoid", ActivationKind::sigmoid, x); }
Var tanh(const Var& x) { return activate("tanh", ActivationKind::tanh, x); }

}  // namespace addnorm
