// S48: what post-LN depends on: the stream, or the branch?
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s48 {
namespace {

/// Share of the newest branch in the variance of the sum, mean over the upper half of the units.
double branch_share(const ClaimContext& context, const char* name, std::uint64_t seed) {
  const StackShape shape = units_of(24, 64);
  Watch watch;
  const LinearBranches branches(shape, seed, branch_gains(context, shape));
  run_units(*make_residual(name, shape), normed(random_var({16, 64}, seed)), branches, {}, &watch);
  double share = 0;
  for (std::size_t i = 12; i < 24; ++i) {
    const double f = variance(watch.branches[i].value());
    share += f / (f + variance(watch.streams[i].value())) / 12;
  }
  return share;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    s.add("post-LN, branch", branch_share(context, "post-ln", seed));
    s.add("pre-LN, branch", branch_share(context, "pre-ln", seed));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("share of the newest branch in the variance of the sum, units 13 to 24 at initialisation: post-LN ",
             s.text("post-LN, branch"), ", pre-LN ", s.text("pre-LN, branch"), "; the rest is the stream");
  return s.most("post-LN, branch") < s.least("pre-LN, branch")
             ? holds(text)
             : fails(s.least("post-LN, branch") > s.most("pre-LN, branch")
                         ? concat(text, ". The heavy dependency is on the branch")
                         : text);
}

}  // namespace

Claim claim() {
  return {.id = "S48",
          .statement = "Post-norm depends more on the residual stream than pre-norm does.",
          .source = "text 002, on post-norm (citing Liu et al. 2020, who say it of the residual branch)",
          .expected = "the stream's share of the sum is larger, and so the branch's smaller, than with pre-norm in every seed",
          .compares = true,
          .start = "branches are made up of one matrix each, drawn by the rule as W_2 would be",
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s48
