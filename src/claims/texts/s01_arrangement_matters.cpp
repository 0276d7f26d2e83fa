// S01: the place of add and norm decides over training.
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s01 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* name : {"post-ln", "pre-ln"}) add_run(s, name, short_run(context, name), context);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("loss of the same 6-layer decoder after 250 steps at 5e-3 without warm-up: post-LN ",
                                  run_text(s, "post-ln"), ", pre-LN ", run_text(s, "pre-ln"));
  const double gap = std::abs(s.mean("post-ln") - s.mean("pre-ln"));
  const SeedsTrained post = seeds_trained(s, "post-ln"), pre = seeds_trained(s, "pre-ln");
  if (post == SeedsTrained::some || pre == SeedsTrained::some) return undecided(text + ". Seeds of one of them disagree");
  return post != pre && !(gap < 3 * (s.spread("post-ln") + s.spread("pre-ln"))) ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S01",
      .statement =
          "How residual connection and norm are arranged looks like a detail, but decides over training and convergence.",
      .source = "text 000, first paragraph",
      .expected =
          "with nothing else changed one arrangement trains in every seed and another in none; losses further apart than 3 "
          "spreads, or one broke off. Not decided: seeds of one disagree",
      .changed = "first fewer than half of the other: with GPT-2's weights, where seeds of post-LN disagree, it was false",
      .earlier = {"true",
                  "with GPT-2's weights most seeds of post-LN train too: at this depth it is placement and weights together that "
                  "decide"},
      .see = {{"S23",
               "there pre-LN is held against post-LN only where post-LN fails, and the printed formula beside it. These are the "
               "same runs: with either weights both verdicts turn on whether post-LN fails in every seed"}},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s01
