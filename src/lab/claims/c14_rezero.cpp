// C14: ReZero learns faster than pre-LN at 12 layers, and trains at 128.
#include <cmath>

#include "addnorm/lab/outcome.h"
#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/small_runs.h"

namespace addnorm::lab::c14 {
namespace {

constexpr double kRates[] = {1e-3, 2e-3, 4e-3};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* stack : {"pre-ln", "rezero"})
    for (const double rate : kRates) {
      SmallRun run = middle_run(stack);
      run.rate = rate;
      run.steps = context.steps(run.steps);
      const double line = trained_line(baselines_of(run));
      for (const RunSummary& summary : run_seeds(run, context)) {
        s.add(concat(stack, " at ", rate), static_cast<double>(summary.steps_to(line)));
        s.add(concat(stack, " at ", rate, ", held out"), summary.broke_off ? std::nan("") : summary.held_out);
      }
    }
  SmallRun deep = thin_run("rezero", 128);
  deep.rate = 2e-3;
  deep.steps = context.steps(deep.steps);
  for (const RunSummary& summary : run_seeds(deep, context)) s.add("128 layers", baselines_of(deep).unigram - summary.last());
  return s;
}

/// The rate with the least mean of what `what` names; rates with a run that broke off have none.
std::string best_of(const Samples& s, const char* stack, const char* what) {
  std::string best = concat(stack, " at ", kRates[0], what);
  for (const double rate : kRates)
    if (const std::string name = concat(stack, " at ", rate, what); s.mean(name) < s.mean(best) || std::isnan(s.mean(best)))
      best = name;
  return best;
}

ClaimVerdict judge(const Samples& s) {
  const std::string pre = best_of(s, "pre-ln", ""), rezero = best_of(s, "rezero", "");
  const std::string pre_end = best_of(s, "pre-ln", ", held out"), rezero_end = best_of(s, "rezero", ", held out");
  const double ratio = s.mean(rezero) / s.mean(pre);
  const std::string text = concat(
      "steps of 12 layers to a loss three quarters of the way from unigram to bigram, each at the best of three rates: ", rezero,
      " ", s.text(rezero), ", ", pre, " ", s.text(pre), ", ratio ", figure_text(ratio), "; behind 300 steps ", rezero_end, " ",
      s.text(rezero_end), ", ", pre_end, " ", s.text(pre_end),
      "; 128 layers of ReZero (d = 32, 200 steps) end below what frequencies alone give by ", s.text("128 layers"), " nats");
  const bool faster = ratio <= 0.75 && s.most(rezero)<s.least(pre), deep = s.least("128 layers")> 0.3;
  if (faster && deep) return holds(text);
  return faster || deep ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C14",
      .statement = "ReZero reaches a given loss in clearly fewer steps than pre-LN at 12 layers, and trains at 128.",
      .source = "Bachlechner et al. 2020, arXiv 2003.04887",
      .expected =
          "without warm-up, each at the best of the rates 1e-3, 2e-3, 4e-3: at most 0.75 of pre-LN's steps, every seed sooner "
          "than any of pre-LN; at 128 layers every seed more than 0.3 nats below what frequencies alone give. Mixed: one of the "
          "two. Losses at the end are told too (Narang et al. 2021 found ReZero's worse)",
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c14
