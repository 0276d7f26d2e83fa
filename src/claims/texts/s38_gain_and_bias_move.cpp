// S38: gamma and beta keep mean 0 and variance 1?
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s38 {
namespace {

/// Largest distance from where they stand for mean 0 and variance 1.
double off_at_start(const SmallRun& run, Role role, double neutral) {
  double most = 0;
  for (const Var& p : parameters_of(*started(run.model, run.seed), role))
    for (const double v : values_of(p.value())) most = std::max(most, std::abs(v - neutral));
  return most;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  SmallRun run = short_run(context, "pre-ln");
  run.steps = context.steps(run.steps);
  for (const RunSummary& summary : run_seeds(run, context)) {
    s.add("gamma at the start", off_at_start(run, Role::norm_gain, 1));
    s.add("beta at the start", off_at_start(run, Role::norm_bias, 0));
    s.add("gamma after training", summary.gain_moved);
    s.add("beta after training", summary.bias_moved);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("distance of gamma from 1 and of beta from 0: at the start ", s.text("gamma at the start"),
                                  " and ", s.text("beta at the start"), "; RMS after 250 steps ", s.text("gamma after training"),
                                  " and ", s.text("beta after training"));
  const bool start = s.most("gamma at the start") == 0 && s.most("beta at the start") == 0;
  const bool stay = s.most("gamma after training") < 1e-3 && s.most("beta after training") < 1e-3;
  const bool move = s.least("gamma after training") >= 1e-3 || s.least("beta after training") >= 1e-3;
  if (start && stay) return holds(text);
  if (start && move) return holds_if("it is said of initialisation: they start at 1 and 0, are learned, and move away", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S38",
          .statement = "Scale gamma and bias beta are set so that mean 0 and variance 1 are kept.",
          .source = "text 002, after the formula",
          .expected = "gamma = 1 and beta = 0 before and after training (within 1e-3)",
          .start = "Xavier's weights; nothing is compared that starts in another way",
          .trains = true,
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s38
