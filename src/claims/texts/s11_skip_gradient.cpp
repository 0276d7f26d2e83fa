// S11: the "1 +" in the gradient, printed right after the unit LN(x + F(x)).
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s11 {
namespace {

constexpr std::size_t kWidth = 12;

/// How far a unit's Jacobian is from I + J_F, by finite differences in double.
double off_from_one_plus(const Tensor& unit, const Tensor& branch) {
  Tensor claimed = branch.clone();
  for (std::size_t i = 0; i < kWidth; ++i) claimed.data<double>()[i * kWidth + i] += 1;
  return relative_distance(unit, claimed);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Tensor x = random_tensor({kWidth}, seed, DType::f64);
    const Var w = scale(random_var({kWidth, kWidth}, seed + 100, DType::f64), 0.3);
    const auto F = [&](const Var& u) { return tanh(linear(u, w)); };
    const Tensor branch = jacobian(F, x);
    s.add("x + F", off_from_one_plus(jacobian([&](const Var& u) { return add(u, F(u)); }, x), branch));
    s.add("LN(x + F)", off_from_one_plus(jacobian([&](const Var& u) { return normed(add(u, F(u))); }, x), branch));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("distance of the unit's Jacobian from I + J_F: x + F ", s.text("x + F"), ", LN(x + F) ", s.text("LN(x + F)"));
  const bool sum = s.most("x + F") < 1e-6, normed_sum = s.most("LN(x + F)") < 1e-6;
  if (sum && normed_sum) return holds(text);
  if (sum)
    return holds_if("the unit is x + F(x) and 1 is read as the identity matrix; after a norm J_LN stands before the sum", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S11",
          .statement =
              "The gradient at a residual unit's input is the gradient at its output times (1 + derivative of the sub-layer).",
          .source = "text 001, Why Residuals Help, 1",
          .expected = "Jacobian equal to I + J_F to 1e-6 for x + F; far from it for the unit LN(x + F) that the text prints",
          .start = "no rule: one made-up branch, which both units share",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s11
