// S69: is mean 0 and variance 1 too restrictive without gain and bias?
#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::s69 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* norm : {"layernorm", "layernorm-noaffine"}) {
    SmallRun run = short_run(context, "pre-ln");
    run.steps = context.steps(run.steps);
    run.model.norm = norm;
    add_held_out(s, norm, run, context);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const Difference cost = difference(s, "layernorm-noaffine", "layernorm");
  const std::string text = concat("held-out loss of 6 pre-LN layers with gain and bias ", s.text("layernorm"), ", without ",
                                  s.text("layernorm-noaffine"), "; difference ", cost.text());
  if (cost.above()) return holds(text);
  return cost.no_higher() ? fails(text) : undecided(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S69",
      .statement =
          "Mean 0 and variance 1 alone are too restrictive: the network needs gain and bias to find a better distribution.",
      .source = "text 003, why gamma and beta matter",
      .expected =
          "without gain and bias the loss is higher, with all of the 95 % interval. False: it is not higher by 0.05 nats, with "
          "all of it; otherwise it is not decided",
      .changed =
          "first by two standard errors, and false where the difference was not above them: -0.00654 with a standard error of "
          "0.0304 over 3 seeds, which decides nothing. Now 5 seeds",
      .earlier = {.verdict = "not decided",
                  .why = "with Xavier's weights, as before, the interval ended a little above the line of 0.05 nats, and ends a "
                         "little below it now; with GPT-2's it is too wide to decide anything",
                  .since = VerdictSince::measured_again},
      .compares = true,
      .trains = true,
      .seeds = 5,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s69
