// S45: warm-up keeps the gradients balanced.
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s45 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::int64_t warmup : {0, 120}) {
    SmallRun run = short_run(context, "post-ln", warmup);
    run.steps = context.steps(run.steps);
    for (const RunSummary& summary : run_seeds(run, context)) {
      s.add(warmup == 0 ? "without" : "with", summary.gradient_ratio);
      s.add(warmup == 0 ? "spread without" : "spread with", summary.spread);
    }
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("gradient at the bottom of 6 post-LN layers over that at the top, after 250 steps at 5e-3: without warm-up ",
             s.text("without"), ", with ", s.text("with"), "; difference between tokens at the top (share of RMS) ",
             s.text("spread without"), " and ", s.text("spread with"));
  const bool balanced = s.least("with") > 0.1 && s.most("with") < 200;
  if (balanced && s.most("without") < 0.1) return holds(text);
  if (balanced && s.most("without") < 200) return undecided(text + ". Without it not every seed loses the balance");
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S45",
          .statement = "Warm-up keeps the gradients of a post-normed network balanced.",
          .source = "text 002, on warm-up",
          .expected =
              "gradient ratio of bottom and top between 0.1 and 200 with warm-up, below 0.1 without, in every seed. Not decided: "
              "not below 0.1 in every seed without",
          .changed = "with GPT-2's weights, where one seed of three loses the balance without warm-up, it was first false",
          .earlier = {"true",
                      "with GPT-2's weights not every seed loses the balance without warm-up: there is less left for it to do"},
          .compares = true,
          .trains = true,
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s45
