// S22: the formula that the text prints for pre-LN.
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s22 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  const StackShape shape = units_of(8, 32);
  for (const std::uint64_t seed : context.seeds) {
    const LinearBranches branches(shape, seed, 1, DType::f64);
    const Var x = random_var({6, 32}, seed, DType::f64);
    const auto stack = [&](const char* name, const Var& input) {
      const auto residual = make_residual(name, shape, {.norm = {.eps = 0}});
      convert(*residual, DType::f64);
      return run_units(*residual, input, branches).value();
    };
    const Tensor printed = stack("norm-skip", x);
    s.add("from pre-LN", relative_distance(stack("pre-ln", x), printed));
    s.add("from post-LN of the normed input", relative_distance(stack("post-ln", normed(x, 0)), printed));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("distance of 8 units LN(x) + F(LN(x)) and a final norm from 8 pre-LN units ", s.text("from pre-LN"),
             ", from 8 post-LN units with a normed input ", s.text("from post-LN of the normed input"));
  return s.most("from pre-LN") < 1e-9 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S22",
          .statement = "Pre-LN is LayerNorm(x) + SubLayer(LayerNorm(x)).",
          .source = "text 001, Connection to Pre-LN",
          .expected = "the printed formula computes the same as x + SubLayer(LN(x)) with a final norm: distance below 1e-9",
          .start = "the same made-up branches in all three stacks",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s22
