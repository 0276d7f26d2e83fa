// S50: RAdam in place of a warm-up.
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s50 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::radam}) {
    SmallRun run = short_run(context, "post-ln");
    run.optimizer = kind;
    add_run(s, kind == OptimizerKind::adam ? "Adam" : "RAdam", run, context);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("6 post-LN layers at 5e-3 without warm-up: Adam ", run_text(s, "Adam"), ", RAdam ", run_text(s, "RAdam"));
  return verdict_on_help(text, s, {"Adam", "Adam"}, {"RAdam", "RAdam"});
}

}  // namespace

Claim claim() {
  return {.id = "S50",
          .statement = "RAdam trains a post-norm Transformer without the warm-up that Adam needs.",
          .source = "text 002, references of the second paragraph (arXiv 1908.03265)",
          .expected =
              "every seed trains with RAdam and none with Adam, at the same rate. Not decided: all train with Adam, or seeds "
              "disagree",
          .changed = "first fewer than half with Adam; the verdicts were the same",
          .earlier = {"true", "with GPT-2's weights most seeds train with Adam too, and one does not: the need itself is open"},
          .see = {{"C34",
                   "there RAdam has to do without warm-up what Adam does with it, in every seed and at each rate where warm-up "
                   "decides, in an encoder-decoder twice as deep. Here it is held against Adam without warm-up alone, at one "
                   "high rate; and so held it does better there too at the higher rates with Xavier's weights. At 1e-3 RAdam "
                   "trains no seed there with either weights, and Adam without warm-up every one"},
                  {"S43",
                   "there the warm-up itself is asked after. Both begin with the same runs, of post-LN without warm-up: where "
                   "their seeds disagree, as with GPT-2's weights, neither is decided"}},
          .compares = true,
          .trains = true,
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s50
