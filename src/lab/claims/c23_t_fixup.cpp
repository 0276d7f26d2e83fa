// C23: T-Fixup: neither norm nor warm-up.
#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/small_runs.h"

namespace addnorm::lab::c23 {
namespace {

constexpr const char* kStacks[] = {"t-fixup", "residual", "post-ln"};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::string name : kStacks) {
    SmallRun run = deep_run(name);
    run.warmup = 0;
    if (name == "t-fixup") run = as_published(run);  // its weights at the start are all that it is
    add_run(s, name, run, context);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("16 decoder layers at 1e-3 without warm-up: T-Fixup ", s.text("t-fixup"), " (", s.text("t-fixup, trained"),
             " of runs trained), the same skips without norm and Xavier weights ", s.text("residual"), " (",
             s.text("residual, trained"), "), post-LN ", s.text("post-ln"), " (", s.text("post-ln, trained"), ")");
  if (!(s.mean("t-fixup, trained") == 1)) return fails(text);
  return s.mean("residual, trained") < 0.5 ? holds(text) : mixed(text);
}

}  // namespace

Claim claim() {
  return {.id = "C23",
          .statement =
              "With T-Fixup's initial weights a deep Transformer trains without norm and without warm-up; with Xavier's it "
              "does not.",
          .source = "Huang et al. 2020, ICML (T-Fixup); there an encoder-decoder of 6 and 6 layers",
          .expected =
              "every seed of 16 layers trains with T-Fixup, fewer than half with Xavier weights, neither with norm; mixed: both "
              "train",
          .trains = true,
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::c23
