// S49: does pre-norm's robustness cost quality?
#include <cmath>

#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/small_runs.h"

namespace addnorm::lab::s49 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* name : {"post-ln", "pre-ln"})
    for (const double rate : {1e-3, 3e-3}) {
      SmallRun run = short_run(name, 50);
      run.steps = context.steps(300);
      run.rate = rate;
      for (const RunSummary& summary : run_seeds(run, context)) s.add(concat(name, " at ", rate), summary.held_out);
    }
  return s;
}

std::string best_of(const Samples& s, const std::string& name) {
  const std::string low = name + " at 0.001", high = name + " at 0.003";
  return s.mean(low) < s.mean(high) ? low : high;
}

ClaimVerdict judge(const Samples& s) {
  const std::string post = best_of(s, "post-ln"), pre = best_of(s, "pre-ln");
  const double cost = s.mean(pre) - s.mean(post);
  const double noise = std::hypot(s.spread(pre), s.spread(post)) / std::sqrt(static_cast<double>(s.of(pre).size()));
  const std::string text =
      concat("held-out loss of 6 layers with 50 steps of warm-up, each at the better of two rates: ", post, " ", s.text(post),
             ", ", pre, " ", s.text(pre), "; difference ", figure_text(cost), ", its standard error ", figure_text(noise));
  if (cost > 2 * noise) return holds(text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S49",
      .statement = "Pre-norm is more robust, sometimes at the cost of the quality that is reached.",
      .source = "text 002, second paragraph",
      .expected = "where both train (6 layers, warm-up, best of two rates) post-norm ends lower by more than two standard errors",
      .trains = true,
      .seeds = 5,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s49
