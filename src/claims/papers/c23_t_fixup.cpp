// C23: T-Fixup: neither norm nor warm-up.
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::c23 {
namespace {

constexpr const char* kStacks[] = {"t-fixup", "residual", "post-ln"};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::string name : kStacks) {
    SmallRun run = deep_run(context, name);
    run.warmup = 0;
    if (name == "t-fixup") run = as_published(run);  // its weights at the start are all that it is
    add_run(s, name, run, context);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("16 decoder layers at 1e-3 without warm-up: T-Fixup ", run_text(s, "t-fixup"),
                                  ", the same skips without norm and without its weights ", run_text(s, "residual"), ", post-LN ",
                                  run_text(s, "post-ln"));
  switch (seeds_trained(s, "t-fixup")) {
    case SeedsTrained::none:
      return fails(text);
    case SeedsTrained::some:
      return undecided(text + ". Seeds of T-Fixup disagree");
    case SeedsTrained::all:
      break;
  }
  return none_trains(s, "residual") ? holds(text) : mixed(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C23",
      .statement =
          "With T-Fixup's initial weights a deep Transformer trains without norm and without warm-up; with usual ones (Xavier's "
          "there) it does not.",
      .source = "Huang et al. 2020, ICML (T-Fixup); there an encoder-decoder of 6 and 6 layers",
      .expected =
          "every seed of 16 layers trains with T-Fixup and none with weights by the rule, neither with norm; mixed: some of the "
          "latter train too. Not decided: seeds of T-Fixup disagree",
      .changed = "first fewer than half with weights by the rule; the verdicts were the same",
      .earlier = {"seen at this scale",
                  "with GPT-2's weights 16 layers train without norm and without T-Fixup's weights, and so does post-LN"},
      .compares = true,
      .start = "T-Fixup starts as it was published under either rule, the others by the rule",
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c23
