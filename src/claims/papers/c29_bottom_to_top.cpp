// C29: B2T in a stack that is too deep for post-LN, beside pre-LN.
#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/list.h"

namespace addnorm::lab::c29 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* name : {"post-ln", "pre-ln", "b2t"}) {
    SmallRun run = deep_run(context, name);
    run.steps = context.steps(run.steps);
    const std::vector<RunSummary> done = run_seeds(run, context);
    add_losses(s, name, run, done);
    for (const RunSummary& summary : done) s.add(concat(name, ", held out"), summary.held_out);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const Difference gap = difference(s, "b2t, held out", "pre-ln, held out");
  const auto told = [&](const char* name) {
    return concat(s.text(concat(name, ", held out")), " (", s.seeds_text(concat(name, ", trained")), " trained)");
  };
  const std::string text = concat("16 layers at 1e-3 with 100 steps of warm-up, held-out loss: post-LN ", told("post-ln"),
                                  ", pre-LN ", told("pre-ln"), ", B2T ", told("b2t"), "; B2T less pre-LN ", gap.text());
  const ClaimVerdict rescued = verdict_on_help(text, s, {"post-ln", "post-LN"}, {"b2t", "B2T"});
  return rescued.finding == Finding::yes && !gap.below() ? mixed(text) : rescued;
}

}  // namespace

Claim claim() {
  return {.id = "C29",
          .statement =
              "The bottom-to-top connection lets a post-norm stack train that is too deep for post-LN, and to a lower loss "
              "than pre-LN.",
          .source = "Takase et al. 2022, arXiv 2206.00330",
          .expected =
              "every seed trains and none of post-LN's, and the held-out loss is below pre-LN's, with all of the 95 % interval; "
              "mixed: trains, but not below. Not decided: post-LN trains too, or seeds disagree",
          .changed = "first fewer than half of the seeds of post-LN, and not seen where it trains too, as with GPT-2's weights",
          .earlier = {"mixed", "with GPT-2's weights 16 layers of post-LN train as well, and end below B2T: nothing to rescue"},
          .compares = true,
          .start = "B2T's 1/√L on the matrices of its branches is part of it under either rule",
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::c29
