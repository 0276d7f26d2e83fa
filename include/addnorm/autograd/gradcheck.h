// gradcheck: is the gradient of a function what finite differences say it is?
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "addnorm/autograd/var.h"

namespace addnorm {

/// Outcome; `worst` is the largest |analytic - numeric| / (atol + rtol * |numeric|), fine when <= 1.
struct GradcheckResult {
  bool ok = false;
  double worst = 0;
  std::string message;  ///< input, element, both values; empty inputs and passes say so too
};

struct GradcheckOptions {
  double h = 1e-5;  ///< central difference: error h^2 * f''' / 6 + eps / h, both near 1e-10 for values near 1
  double rtol = 1e-6;
  double atol = 1e-7;
  std::uint64_t seed = 1;  ///< of the random upstream gradient
};

/// fn maps Vars to one or more Vars; inputs are float64 Tensors. The upstream gradient is random: with a constant one
/// the input gradients of softmax and layer norm vanish, and a backward that returns nothing would pass. Every element
/// of every input is checked.
using GradcheckFn = std::function<std::vector<Var>(const std::vector<Var>& inputs)>;
GradcheckResult gradcheck(const GradcheckFn& fn, const std::vector<Tensor>& inputs, GradcheckOptions options = {});

}  // namespace addnorm
