// S67: epsilon, and the value that the text gives as an example.
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s67 {
namespace {

/// Variance of the normed vector, of an x with standard deviation sd.
double output_variance(double sd, float eps, std::uint64_t seed) {
  const Var x = scale(normed(random_var({256}, seed, DType::f64), 0), sd);
  return variance(normed(x, eps).value());
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    s.add("constant vector is finite", std::isfinite(length(normed(Var(Tensor::full({16}, 2)), 0.01f).value())) ? 1 : 0);
    s.add("eps 0.01, sd 0.1", output_variance(0.1, 0.01f, seed));
    s.add("eps 0.01, sd 1", output_variance(1, 0.01f, seed));
    s.add("eps 0.01, sd 10", output_variance(10, 0.01f, seed));
    s.add("eps 1e-5, sd 0.1", output_variance(0.1, 1e-5f, seed));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const bool finite = s.least("constant vector is finite") == 1;
  const std::string text =
      concat("variance of the normed vector with eps = 0.01: ", s.text("eps 0.01, sd 0.1"), " where the input deviates by 0.1, ",
             s.text("eps 0.01, sd 1"), " by 1, ", s.text("eps 0.01, sd 10"), " by 10; with eps = 1e-5 ",
             s.text("eps 1e-5, sd 0.1"), " by 0.1. A constant vector gives ", finite ? "numbers" : "what is no number");
  const auto unit = [&](const char* name) { return std::abs(s.mean(name) - 1) < 0.005; };
  if (!finite) return fails(text);
  if (unit("eps 0.01, sd 0.1") && unit("eps 0.01, sd 1")) return holds(text);
  return holds_if("epsilon is small beside the variance, which 0.01 is not always: the output's variance is v / (v + 0.01)",
                  text);
}

}  // namespace

Claim claim() {
  return {.id = "S67",
          .statement = "A small epsilon, such as 0.01, keeps layer norm from dividing by zero.",
          .source = "text 003, explanation of parameters",
          .expected = "finite on constant vectors, and the output's variance still within 0.5 % of 1",
          .start = "no weights: norms of made-up vectors",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s67
