// C37: pre- against post-LN where both train: 6 layers with warm-up, each at its best rate.
#include <cmath>

#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/small_runs.h"

namespace addnorm::lab::c37 {
namespace {

constexpr double kRates[] = {5e-4, 1e-3, 2e-3, 4e-3};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* stack : {"post-ln", "pre-ln"})
    for (const double rate : kRates) {
      SmallRun run = short_run(stack, 100);
      run.rate = rate;
      run.steps = context.steps(500);
      for (const RunSummary& summary : run_seeds(run, context))
        s.add(concat(stack, " at ", rate), summary.broke_off ? std::nan("") : summary.held_out);
    }
  return s;
}

std::string best_of(const Samples& s, const char* stack) {
  std::string best = concat(stack, " at ", kRates[0]);
  for (const double rate : kRates)
    if (const std::string name = concat(stack, " at ", rate); s.mean(name) < s.mean(best) || std::isnan(s.mean(best)))
      best = name;
  return best;
}

ClaimVerdict judge(const Samples& s) {
  const std::string post = best_of(s, "post-ln"), pre = best_of(s, "pre-ln");
  const double lead = s.mean(pre) - s.mean(post);
  const double error = std::hypot(s.spread(pre), s.spread(post)) / std::sqrt(static_cast<double>(s.of(pre).size()));
  std::string text = concat(
      "held-out loss of 6 layers after 500 steps with 100 of warm-up, each at the best of four rates: ", post, " ", s.text(post),
      ", ", pre, " ", s.text(pre), "; post-LN is lower by ", figure_text(lead), ", standard error ", figure_text(error));
  if (lead > 2 * error) return holds(text);
  if (std::abs(lead) <= 2 * error) return mixed(text + ": no difference outside the noise");
  return fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C37",
      .statement = "Where both train, 6 layers with warm-up and each at its best rate, post-LN ends better than pre-LN.",
      .source = "Takase et al. 2022, arXiv 2206.00330, of six or fewer layers",
      .expected =
          "each at the best of the rates 5e-4, 1e-3, 2e-3, 4e-3: held-out loss of post-LN lower by more than two standard errors "
          "over 5 seeds. Mixed: no difference outside the noise. Not seen: pre-LN is lower by more than that",
      .trains = true,
      .seeds = 5,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c37
