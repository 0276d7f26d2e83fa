// S43: who needs a warm-up?
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s43 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* name : {"pre-ln", "post-ln"})
    for (const std::int64_t warmup : {0, 120})
      add_run(s, concat(name, warmup == 0 ? " without" : " with"), short_run(context, name, warmup), context);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("6 layers at 5e-3: pre-LN without warm-up ", run_text(s, "pre-ln without"), ", with 120 steps ",
                                  run_text(s, "pre-ln with"), "; post-LN without ", run_text(s, "post-ln without"), ", with ",
                                  run_text(s, "post-ln with"));
  if (none_trains(s, "pre-ln without")) return fails(text);
  if (!all_train(s, "pre-ln without")) return undecided(text + ". Seeds of pre-LN without it disagree");
  switch (help(s, "post-ln without", "post-ln with")) {
    case Help::works:
      return holds(text);
    case Help::no_need:
      return holds_if("nothing is said of post-norm, which did without here", text);
    case Help::fails:
      return holds_if("nothing is said of post-norm, which does not train with it either", text);
    default:
      return undecided(text + ". Pre-LN does without; seeds of post-LN disagree, so that it is open whether it needs it");
  }
}

}  // namespace

Claim claim() {
  return {.id = "S43",
          .statement = "Pre-norm does without the learning rate warm-up that post-norm needs.",
          .source = "text 002, second paragraph",
          .expected =
              "without warm-up all seeds of pre-norm train and none of post-norm, of which all train with it. Not decided: seeds "
              "of one disagree",
          .changed =
              "first fewer seeds of post-norm without it than with it: with GPT-2's weights, where two of three seeds train "
              "without and all with it, it was true",
          .earlier = {"true", "with GPT-2's weights seeds of post-LN disagree: it may need the warm-up there or not"},
          .see = {{"C6",
                   "there an encoder-decoder of twice the depth is asked. With GPT-2's weights pre-LN does not do without "
                   "warm-up there, at 3e-3 and 5e-3, and trains with it; with Xavier's it does without at every rate. That "
                   "pre-norm does without is said here of 6 layers of a decoder alone"},
                  {"S50",
                   "there RAdam takes the place of the warm-up. Both begin with the same runs, of post-LN without warm-up: "
                   "where their seeds disagree, as with GPT-2's weights, neither is decided"}},
          .compares = true,
          .trains = true,
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s43
