// gradcheck: is the gradient of a function what finite differences say it is?
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "addnorm/autograd/var.h"

namespace addnorm {

/// Outcome; `worst` is the largest |analytic - numeric| / (atol + rtol * |numeric|), 0 where both are equal; fine
/// when <= 1.
struct GradcheckResult {
  bool ok = false;
  std::size_t compared = 0;  ///< derivatives; never 0
  double worst = 0;
  std::string message;  ///< how many agreed, and of the worst one: input, element or direction, both values. Passes say it too
};

struct GradcheckOptions {
  double h = 1e-5;  ///< central difference: error h^2 * f''' / 6 + eps / h, both near 1e-10 for values near 1
  double rtol = 1e-6;
  double atol = 1e-7;
  std::uint64_t seed = 1;  ///< of the random upstream gradient and of the directions
  /// 0: the derivative along every element, two runs of fn each. Otherwise along this many random unit vectors v per input,
  /// (f(x + h v) - f(x - h v)) / 2h against <gradient, v>: for shapes with too many elements. One direction finds any
  /// error except one it happens to be orthogonal to; it does not say which element is wrong.
  std::size_t directions = 0;
};

/// fn maps Vars to one or more Vars; inputs are float64 Tensors. The upstream gradient is random: with a constant one
/// the input gradients of softmax and layer norm vanish, and a backward that returns nothing would pass. Every input is
/// checked. UsageError when there is nothing to compare: no input has an element, or no result has one.
using GradcheckFn = std::function<std::vector<Var>(const std::vector<Var>& inputs)>;
GradcheckResult gradcheck(const GradcheckFn& fn, const std::vector<Tensor>& inputs, GradcheckOptions options = {});

}  // namespace addnorm
