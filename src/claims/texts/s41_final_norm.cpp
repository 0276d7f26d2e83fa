// S41: why pre-norm has one norm more, after the stack.
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::s41 {
namespace {

double norms_of(const char* name) {
  const auto residual = make_residual(name, {.width = 8, .layers = 6});
  double count = 0;
  for_each_parameter(*residual, [&](Parameter& p) { count += p.role == Role::norm_gain ? 1 : 0; });
  return count;
}

/// The power of depth with which the output's RMS grows.
double growth(const ClaimContext& context, const char* name, std::uint64_t seed) {
  std::vector<double> depths, sizes;
  for (const std::size_t depth : {4u, 16u, 64u}) {
    const StackShape shape = units_of(depth, 48);
    depths.push_back(static_cast<double>(depth));
    const LinearBranches branches(shape, seed, branch_gains(context, shape));
    sizes.push_back(rms(run_units(*make_residual(name, shape), random_var({8, 48}, seed), branches).value()));
  }
  return fitted_power(depths, sizes);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : {"pre-ln", "pre-ln-nofinal", "post-ln"}) {
      s.add(concat(name, " growth"), growth(context, name, seed));
      s.add(concat(name, " norms"), norms_of(name));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("output RMS grows like depth to the power: pre-LN without final norm ", s.text("pre-ln-nofinal growth"),
             ", with it ", s.text("pre-ln growth"), ", post-LN ", s.text("post-ln growth"), "; norms in 6 layers: pre-LN ",
             s.text("pre-ln norms"), ", post-LN ", s.text("post-ln norms"));
  const bool one_more = s.mean("pre-ln norms") == s.mean("post-ln norms") + 1;
  const bool needed = s.least("pre-ln-nofinal growth") > 0.3 && s.most("pre-ln growth") < 0.05;
  return one_more && needed ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S41",
      .statement = "Pre-norm needs one more norm, after the stack, to pass on only well-conditioned outputs.",
      .source = "text 002, second paragraph",
      .expected =
          "output RMS grows like a power above 0.3 of depth without it and below 0.05 with it; one norm more than post-LN",
      .earlier = {"true",
                  "with GPT-2's weights the stream does not grow with depth, so that its output needs no norm before training"},
      .compares = true,
      .start = "branches are made up of one matrix each, drawn by the rule as W_2 would be",
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s41
