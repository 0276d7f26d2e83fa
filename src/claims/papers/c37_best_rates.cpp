// C37: pre- against post-LN where both train: 6 layers with warm-up, each at its best rate.
#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/list.h"

namespace addnorm::lab::c37 {
namespace {

constexpr double kRates[] = {5e-4, 1e-3, 2e-3, 4e-3};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* stack : {"post-ln", "pre-ln"})
    for (const double rate : kRates) {
      SmallRun run = short_run(context, stack, 100);
      run.rate = rate;
      run.steps = context.steps(500);
      for (const RunSummary& summary : run_seeds(run, context)) {
        s.add(at_rate(stack, rate), summary.held_out);
        s.add(at_rate(stack, rate, ", trained"), trained(run, summary) ? 1 : 0);
      }
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string post = at_rate("post-ln", best_rate(s, "post-ln", kRates));
  const std::string pre = at_rate("pre-ln", best_rate(s, "pre-ln", kRates));
  const Difference lead = difference(s, pre, post);
  const std::string text =
      concat("held-out loss of 6 layers after 500 steps with 100 of warm-up, each at the best of four rates: ", post, " ",
             run_text(s, post), ", ", pre, " ", run_text(s, pre), "; post-LN is ",
             lead.mean < 0 ? concat("higher by ", difference(s, post, pre).text()) : "lower by " + lead.text());
  if (!all_train(s, post) || !all_train(s, pre)) return mixed(text);
  if (lead.above()) return holds(text);
  return lead.below() ? fails(text) : mixed(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C37",
      .statement = "Where both train, 6 layers with warm-up and each at its best rate, post-LN ends better than pre-LN.",
      .source = "Takase et al. 2022, arXiv 2206.00330, of six or fewer layers",
      .expected =
          "each at the best of the rates 5e-4, 1e-3, 2e-3, 4e-3: held-out loss of post-LN lower, with all of the 95 % interval "
          "over 5 seeds. Mixed: the interval holds 0, or one of them does not train at its best rate. Not seen: pre-LN is lower "
          "by more than "
          "that",
      .earlier = {"seen at this scale", "with GPT-2's weights both end alike: pre-LN gains by weaker branches, post-LN does not"},
      .compares = true,
      .trains = true,
      .seeds = 5,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c37
