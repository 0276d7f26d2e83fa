// S02: vanishing and exploding gradients in deep stacks without skips.
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::s02 {
namespace {

/// ||dL/dx_0|| over ||dL/dx_n|| of n branches one after the other, with a slope that is not that of the identity.
double ratio(std::size_t depth, double gain, std::uint64_t seed) {
  const StackShape shape = units_of(depth, 32);
  const LinearBranches branches(shape, seed, gain);
  const Var x = random_var({16, 32}, seed, DType::f32, true);
  const Var y = run_units(*make_residual("plain", shape), x, [&](const Unit& u, const Var& v) { return tanh(branches(u, v)); });
  backward(y, random_tensor(y.shape(), seed + 7));
  return length(x.grad()) / length(random_tensor(y.shape(), seed + 7));
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const auto& [name, gain] : {std::pair{"weights x 0.7", 0.7}, {"weights x 1", 1.0}, {"weights x 3", 3.0}}) {
      std::vector<double> depths, logs;
      for (const std::size_t depth : {4u, 8u, 16u, 32u}) {
        depths.push_back(static_cast<double>(depth));
        logs.push_back(std::log10(ratio(depth, gain, seed)));
      }
      s.add(name, fitted_line(depths, logs).slope * 10);  // powers of ten per ten layers
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("powers of ten that the gradient gains per ten layers on its way down, by scale of the weights: 0.7: ",
             s.text("weights x 0.7"), ", 1: ", s.text("weights x 1"), ", 3: ", s.text("weights x 3"));
  const bool vanishes = s.most("weights x 0.7") < -0.5;
  const bool explodes = s.least("weights x 3") > 0.5;
  if (vanishes && explodes) return holds(text);
  if (vanishes || explodes) return holds_if(vanishes ? "gradients vanish; none explode" : "gradients explode; none vanish", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S02",
      .statement = "In a deep stack the gradient that back-propagation sends down can vanish or explode.",
      .source = "text 000, second paragraph",
      .expected =
          "without skips the gradient changes by a constant factor per layer: below 10^-0.5 per ten layers with small weights, "
          "above 10^0.5 with large ones",
      .start = "no rule: matrices drawn at three strengths, of which the claim is made",
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s02
