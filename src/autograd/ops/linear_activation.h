// The kernel's name of what linear applies to its sum. Internal to autograd.
#pragma once

#include <optional>

#include "addnorm/autograd/ops.h"
#include "kernels/elementwise/activations.h"

namespace addnorm::detail {

inline std::optional<kernels::Activation> kernel_activation(LinearActivation activation) {
  require_one_of("linear", "activation", activation, "LinearActivation", {"none", "relu", "gelu", "gelu_tanh", "silu"});
  switch (activation) {
    case LinearActivation::none:
      return {};
    case LinearActivation::relu:
      return kernels::Activation::relu;
    case LinearActivation::gelu:
      return kernels::Activation::gelu;
    case LinearActivation::gelu_tanh:
      return kernels::Activation::gelu_tanh;
    case LinearActivation::silu:
      return kernels::Activation::silu;
  }
  return {};
}

}  // namespace addnorm::detail
