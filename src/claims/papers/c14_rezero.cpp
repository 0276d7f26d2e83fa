// C14: ReZero learns faster than pre-LN at 12 layers, and trains at 128.
#include "addnorm/lab/outcome.h"
#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/list.h"

namespace addnorm::lab::c14 {
namespace {

constexpr double kRates[] = {1e-3, 2e-3, 4e-3};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* stack : {"pre-ln", "rezero"})
    for (const double rate : kRates) {
      SmallRun run = middle_run(context, stack);
      run.rate = rate;
      run.steps = context.steps(run.steps);
      const double line = trained_line(baselines_of(run));
      for (const RunSummary& summary : run_seeds(run, context)) {
        s.add(at_rate(stack, rate), summary.steps_to(line));
        s.add(at_rate(stack, rate, ", trained"), trained(run, summary) ? 1 : 0);
        s.add(at_rate(stack, rate, ", held out"), summary.held_out);
      }
    }
  SmallRun deep = thin_run(context, "rezero", 128);
  deep.rate = 2e-3;
  deep.steps = context.steps(deep.steps);
  for (const RunSummary& summary : run_seeds(deep, context)) s.add("128 layers", baselines_of(deep).unigram - summary.last());
  return s;
}

std::string best_of(const Samples& s, const char* stack, const char* what) {
  return at_rate(stack, best_rate(s, stack, kRates, what), what);
}

ClaimVerdict judge(const Samples& s) {
  const std::string pre = best_of(s, "pre-ln", "");
  const std::string rezero = best_of(s, "rezero", "");
  const std::string pre_end = best_of(s, "pre-ln", ", held out");
  const std::string rezero_end = best_of(s, "rezero", ", held out");
  const double ratio = s.mean(rezero) / s.mean(pre);
  const std::string text = concat(
      "steps of 12 layers to a loss three quarters of the way from unigram to bigram, each at the best of three rates: ", rezero,
      " ", run_text(s, rezero), ", ", pre, " ", run_text(s, pre), ", ratio ", figure_text(ratio), "; after 300 steps ",
      rezero_end, " ", s.text(rezero_end), ", ", pre_end, " ", s.text(pre_end),
      "; 128 layers of ReZero (d = 32, 200 steps) end below what frequencies alone give by ", s.text("128 layers"), " nats");
  const bool pre_trains = all_train(s, pre);  // else it has no steps to be compared with
  const bool rezero_trains = all_train(s, rezero);
  const bool faster = ratio <= 0.75 && s.most(rezero) < s.least(pre);
  const bool deep = s.least("128 layers") > 0.3;
  if (rezero_trains && pre_trains && faster && deep) return holds(text);
  return (rezero_trains && (faster || !pre_trains)) || deep ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C14",
      .statement = "ReZero reaches a given loss in clearly fewer steps than pre-LN at 12 layers, and trains at 128.",
      .source = "Bachlechner et al. 2020, arXiv 2003.04887",
      .expected =
          "without warm-up, each at the best of the rates 1e-3, 2e-3, 4e-3: at most 0.75 of pre-LN's steps, every seed sooner "
          "than any of pre-LN, both trained in every seed; at 128 layers every seed more than 0.3 nats below what frequencies "
          "alone give. Mixed: one of the two, or only ReZero trains. Losses at the end are reported too (Narang et al. 2021 "
          "found "
          "ReZero's worse)",
      .earlier = {"seen at this scale",
                  "with GPT-2's weights pre-LN is the sooner one: ReZero's branches start at nothing and "
                  "are small matrices on top of that"},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c14
