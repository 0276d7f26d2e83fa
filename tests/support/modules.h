// Modules in tests: parameters away from their starting values, and gradient checks over all of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "addnorm/autograd/gradcheck.h"
#include "addnorm/nn/init.h"
#include "support/near.h"

namespace addnorm::test {

/// Matrices by Xavier; everything else its start plus N(0, 0.3^2), so that no gain is 1 and no bias 0.
inline void scramble(Module& module, std::uint64_t seed = 1) {
  initialise(module, xavier_rule, seed);
  for_each_parameter(module, [&](Parameter& p) {
    if (is_matrix(p.role)) return;
    Tensor& values = p.value.value();
    const std::vector<float> noise = normal_values(values.elements(), seed + 100 + p.path.size(), 0, 0.3);
    dispatch(values.dtype(), [&](auto zero) {
      using T = decltype(zero);
      for (std::size_t i = 0; i < noise.size(); ++i) values.data<T>()[i] += static_cast<T>(noise[i]);
    });
  });
}

/// Central differences of f in every given input and in every parameter of the module, which is left in float64.
inline testing::AssertionResult gradients_hold(Module& module, const std::function<Var(const std::vector<Var>&)>& f,
                                               const std::vector<Tensor>& inputs, GradcheckOptions options = {}) {
  convert(module, DType::f64);
  std::vector<Tensor> all = inputs;
  std::string paths;
  for_each_parameter(module, [&](Parameter& p) {
    paths += concat("\n  input ", all.size(), ": ", p.path);
    all.push_back(p.value.value());
  });
  const auto fn = [&](const std::vector<Var>& in) {
    std::size_t next = inputs.size();
    for_each_parameter(module, [&](Parameter& p) { p.value = in[next++]; });
    return std::vector<Var>{f({in.begin(), in.begin() + static_cast<std::ptrdiff_t>(inputs.size())})};
  };
  const GradcheckResult result = gradcheck(fn, all, options);
  return result.ok ? testing::AssertionSuccess() : testing::AssertionFailure() << result.message << paths;
}

}  // namespace addnorm::test
