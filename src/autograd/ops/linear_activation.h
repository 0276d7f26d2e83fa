// The kernel's name of what linear applies to its sum. Internal to autograd.
#pragma once

#include <optional>

#include "addnorm/autograd/ops.h"
#include "kernels/elementwise/activations.h"

namespace addnorm::detail {

inline std::optional<kernels::ActivationKind> kernel_activation(LinearActivation activation) {
  require_one_of("linear", "activation", activation, "LinearActivation", {"none", "relu", "gelu", "gelu_tanh", "silu"});
  switch (activation) {
    case LinearActivation::none:
      return {};
    case LinearActivation::relu:
      return kernels::ActivationKind::relu;
    case LinearActivation::gelu:
      return kernels::ActivationKind::gelu;
    case LinearActivation::gelu_tanh:
      return kernels::ActivationKind::gelu_tanh;
    case LinearActivation::silu:
      return kernels::ActivationKind::silu;
  }
  return {};
}

}  // namespace addnorm::detail
