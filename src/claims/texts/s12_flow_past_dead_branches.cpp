// S12: does the "1" keep the gradient alive when the sub-layers pass none?
#include "addnorm/autograd/tape.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s12 {
namespace {

constexpr std::size_t kUnits = 24, kWidth = 64;

/// What is left at the input of a gradient of length 1 at the output, when no branch passes any on.
double left(const ClaimContext& context, const char* name, std::uint64_t seed) {
  const StackShape shape = units_of(kUnits, kWidth);
  const LinearBranches branches(shape, seed, branch_gains(context, shape));
  const Var x = Var(normed(random_var({16, kWidth}, seed)).value(), true);
  const auto residual = make_residual(name, shape);
  const Var y = run_units(*residual, x, [&](const Unit& unit, const Var& u) { return branches(unit, u).detach(); });
  const Tensor dy = random_tensor(y.shape(), seed + 9);
  backward(y, dy);
  return length(x.grad()) / length(dy);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : {"residual", "pre-ln-nofinal", "post-ln"}) s.add(name, left(context, name, seed));
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("gradient left after 24 units whose branches pass none: x + F(x) ", s.text("residual"),
                                  ", x + F(LN(x)) ", s.text("pre-ln-nofinal"), ", LN(x + F(x)) ", s.text("post-ln"));
  const bool sums = s.least("residual") > 0.99 && s.least("pre-ln-nofinal") > 0.99, normed_sum = s.least("post-ln") > 0.5;
  if (sums && normed_sum) return holds(text);
  if (sums)
    return holds_if("no norm stands on the skip; each one of the printed LN(x + F(x)) divides it by the spread of the sum", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S12",
      .statement = "The 1 of the skip makes sure that gradient flows even where the layer's own gradient is small.",
      .source = "text 001, Why Residuals Help, 1",
      .expected = "with branches that pass no gradient all of it arrives: above 0.99 for sums, above 0.5 for the printed unit",
      .earlier =
          {"true only if no norm stands on the skip; each one of the printed LN(x + F(x)) divides it by the spread of the sum",
           "with GPT-2's weights the sum is hardly larger than x, and a norm of it divides by little more than 1"},
      .compares = true,
      .start = "branches are made up of one matrix each, drawn by the rule as W_2 would be",
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s12
