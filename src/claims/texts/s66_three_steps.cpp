// S66: layer norm in three steps.
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s66 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const std::size_t d : {4u, 17u, 64u}) {
      const std::vector<double> x = values_of(random_tensor({d}, seed)), gamma = values_of(random_tensor({d}, seed + 1)),
                                beta = values_of(random_tensor({d}, seed + 2));
      const double n = static_cast<double>(d), eps = 1e-5;
      double mu = 0;
      for (const double v : x) mu += v / n;  // step 1
      double variance_of_x = 0;
      for (const double v : x) variance_of_x += (v - mu) * (v - mu) / n;  // step 2
      std::vector<double> y;
      for (std::size_t k = 0; k < d; ++k)
        y.push_back(gamma[k] * (x[k] - mu) / std::sqrt(variance_of_x + eps) + beta[k]);  // step 3
      const Var got = layer_norm(random_var({d}, seed), random_var({d}, seed + 1), random_var({d}, seed + 2));
      s.add("difference", largest_difference(got.value(), Tensor::of({d}, std::span<const double>(y))));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "largest difference between the three steps in double and the layer norm that models use (float): ", s.text("difference"),
      ", at most ", figure_text(s.most("difference")));
  return s.most("difference") < 1e-5 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S66",
          .statement =
              "Layer norm is three steps: the mean of the features, their variance, then norm, gain and bias with epsilon under "
              "the root.",
          .source = "text 003, Mathematical Formulation",
          .expected = "written out step by step it agrees to 1e-5, the rounding of float",
          .start = "no weights: the norm of made-up vectors, step by step and by the op",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s66
