// S35: the formula of layer norm, with the variance divided by the width.
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s35 {
namespace {

constexpr std::size_t kWidth = 24;

std::vector<double> by_hand(const std::vector<double>& e, const std::vector<double>& gamma, const std::vector<double>& beta,
                            double divisor) {
  double m = 0, v = 0;
  for (const double x : e) m += x / static_cast<double>(e.size());
  for (const double x : e) v += (x - m) * (x - m) / divisor;
  std::vector<double> y;
  for (std::size_t i = 0; i < e.size(); ++i) y.push_back((e[i] - m) / std::sqrt(v) * gamma[i] + beta[i]);
  return y;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const auto vector = [&](std::uint64_t which) { return random_tensor({kWidth}, seed * 10 + which, DType::f64); };
    const Tensor e = vector(1), gamma = vector(2), beta = vector(3);
    const Tensor y = layer_norm(Var(e), Var(gamma), Var(beta), {.eps = 0}).value();
    const auto off = [&](double divisor) {
      return relative_distance(Tensor::of({kWidth}, by_hand(values_of(e), values_of(gamma), values_of(beta), divisor)), y);
    };
    s.add("divided by d", off(kWidth));
    s.add("divided by d - 1", off(kWidth - 1));
    const Tensor plain = normed(Var(e), 0).value();
    s.add("mean of the output", std::abs(mean_value(plain)));
    s.add("variance of the output", variance(plain));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("distance of the formula from layer norm in double: variance over d ", s.text("divided by d"),
                                  ", over d - 1 ", s.text("divided by d - 1"), "; with gain 1 and bias 0 the output has mean ",
                                  s.text("mean of the output"), " and variance ", s.text("variance of the output"));
  const bool formula = s.most("divided by d") < 1e-12 && s.least("divided by d - 1") > 1e-4;
  const bool unit = s.most("mean of the output") < 1e-12 && std::abs(s.mean("variance of the output") - 1) < 1e-12;
  return formula && unit ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S35",
          .statement =
              "Layer norm subtracts the mean over the features, divides by the root of their variance (divided by their number), "
              "multiplies by gamma and adds beta.",
          .source = "text 002, formula",
          .expected = "the formula agrees to 1e-12 in double; dividing by d - 1 does not; output of mean 0 and variance 1",
          .start = "no weights: the norm of made-up vectors, by hand and by the op",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s35
