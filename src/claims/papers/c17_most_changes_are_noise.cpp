// C17: of the arrangements proposed since 2021, how many end lower than pre-LN by more than chance?
#include <cmath>

#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::c17 {
namespace {

constexpr const char* kChanges[] = {"normformer", "sub-ln", "deepnorm", "resi-dual", "mix-ln", "lns", "peri-ln", "keel"};
constexpr double kErrors = 4;  // two-sided 0.05 / 8 of Student's t with 8 degrees of freedom, those of equal spreads, is 3.7

Samples measure(const ClaimContext& context) {
  Samples s;
  const auto add = [&](const char* name) {
    SmallRun run = comparison_run(context, name);
    run.steps = context.steps(run.steps);
    add_held_out(s, name, run, context);
  };
  add("pre-ln");
  for (const char* name : kChanges) add(name);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text =
      concat("held-out loss of 6 layers at 3e-3 after 300 steps, with the same weights at the start: pre-ln ", s.text("pre-ln"));
  int better = 0, worse = 0, outside = 0, broken = 0;
  for (const char* name : kChanges) {
    const Difference d = difference(s, name, "pre-ln");
    text += concat(", ", name, " ", s.text(name));
    broken += std::isnan(d.mean);
    better += d.mean < -kErrors * d.error;
    worse += d.mean > kErrors * d.error;
    outside += std::abs(d.mean) > 2 * s.spread("pre-ln");
  }
  text += concat("; of these 8 ", better, " lower by more than four standard errors, ", worse, " higher, ", outside,
                 " outside two deviations of pre-ln, ", broken, " broke off");
  if (std::isnan(s.mean("pre-ln"))) return fails(text);
  if (better + broken <= 2) return holds(text);  // what broke off is not known to be no better
  return better <= 4 ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "C17",
          .statement =
              "Most changes of the Transformer that were proposed since 2021 make no difference for the better outside the "
              "noise between seeds (here: eight arrangements).",
          .source = "arXiv 2605.20798: 2 of 20 changes, corrected for their number",
          .expected =
              "at most 2 of 8 arrangements below pre-LN by more than four standard errors (0.05 over 8 comparisons: 3.7), at one "
              "rate for all, those that broke off counted among them. Mixed: at most 4 below",
          .compares = true,
          .start = "gains that are part of a formula stay under either rule: DeepNorm's β, those of Sub-LN",
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::c17
