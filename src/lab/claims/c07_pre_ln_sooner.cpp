// C7: pre-LN reaches a loss in fewer steps than post-LN, each at its best rate.
#include "addnorm/lab/outcome.h"
#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/small_runs.h"

namespace addnorm::lab::c07 {
namespace {

constexpr double kRates[] = {5e-4, 1e-3, 2e-3, 4e-3};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const auto& [stack, warmup] : {std::pair{"post-ln", 100}, {"pre-ln", 0}})
    for (const double rate : kRates) {
      SmallRun run = middle_run(stack, warmup);
      run.rate = rate;
      run.steps = context.steps(run.steps);
      const double line = trained_line(baselines_of(run));
      for (const RunSummary& summary : run_seeds(run, context)) {
        s.add(concat(stack, " at ", rate), static_cast<double>(summary.steps_to(line)));
        s.add(concat(stack, " at ", rate, ", trained"), trained(run, summary) ? 1 : 0);
      }
    }
  return s;
}

/// The rate with the fewest steps; a run that never gets there counts one step more than it had.
std::string best_of(const Samples& s, const char* stack) {
  std::string best = concat(stack, " at ", kRates[0]);
  for (const double rate : kRates)
    if (const std::string name = concat(stack, " at ", rate); s.mean(name) < s.mean(best)) best = name;
  return best;
}

ClaimVerdict judge(const Samples& s) {
  const std::string post = best_of(s, "post-ln"), pre = best_of(s, "pre-ln");
  const double ratio = s.mean(pre) / s.mean(post);
  std::string text = concat(
      "steps of 12 layers to a loss three quarters of the way from unigram to bigram, each at the best of four rates: ", pre,
      " without warm-up ", s.text(pre), ", ", post, " with 100 steps of warm-up ", s.text(post), ", ratio ", figure_text(ratio),
      "; share of runs that train at 5e-4, 1e-3, 2e-3, 4e-3:");
  for (const char* stack : {"pre-ln", "post-ln"}) {
    text += concat(stack[1] == 'r' ? " " : "; ", stack);
    for (const double rate : kRates) text += concat(" ", figure_text(s.mean(concat(stack, " at ", rate, ", trained"))));
  }
  const bool gets_there = s.mean(pre + ", trained") == 1, sooner = s.most(pre) < s.least(post);
  if (gets_there && sooner && ratio < 0.8) return holds(text);
  return gets_there && sooner ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C7",
      .statement = "Pre-LN without warm-up reaches a given loss in clearly fewer steps than post-LN with the warm-up it needs.",
      .source = "Xiong et al. 2020, arXiv 2002.04745 (BERT there, a decoder of 12 layers here)",
      .expected =
          "each at the best of the rates 5e-4, 1e-3, 2e-3, 4e-3: steps of pre-LN over those of post-LN below 0.8, every seed "
          "sooner than any of post-LN. Mixed: sooner in every seed, but not by so much",
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c07
