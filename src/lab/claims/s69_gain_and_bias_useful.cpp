// S69: is mean 0 and variance 1 too restrictive without gain and bias?
#include <cmath>

#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/small_runs.h"

namespace addnorm::lab::s69 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* norm : {"layernorm", "layernorm-noaffine"}) {
    SmallRun run = short_run("pre-ln");
    run.steps = context.steps(run.steps);
    run.model.norm = norm;
    for (const RunSummary& summary : run_seeds(run, context)) s.add(norm, summary.held_out);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const double cost = s.mean("layernorm-noaffine") - s.mean("layernorm");
  const double noise = std::hypot(s.spread("layernorm"), s.spread("layernorm-noaffine")) /
                       std::sqrt(static_cast<double>(s.of("layernorm").size()));
  const std::string text =
      concat("held-out loss of 6 pre-LN layers with gain and bias ", s.text("layernorm"), ", without ",
             s.text("layernorm-noaffine"), "; difference ", figure_text(cost), ", its standard error ", figure_text(noise));
  return cost > 2 * noise ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S69",
          .statement =
              "Mean 0 and variance 1 alone are too restrictive: the network needs gain and bias to find a better distribution.",
          .source = "text 003, why gamma and beta matter",
          .expected = "without gain and bias the loss is higher by more than two standard errors",
          .trains = true,
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s69
