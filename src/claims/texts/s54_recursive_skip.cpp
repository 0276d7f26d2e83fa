// S54: the recursive skip: the input is added again after the first norm.
#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/list.h"

namespace addnorm::lab::s54 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* name : {"post-ln", "rskip"})
    for (const std::int64_t warmup : {0, 120})
      add_run(s, concat(name, warmup == 0 ? " without" : " with"), short_run(context, name, warmup), context);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const Difference with_warmup = difference(s, "rskip with", "post-ln with");
  const std::string text =
      concat("6 layers at 5e-3: without warm-up post-LN ", run_text(s, "post-ln without"), ", recursive skip ",
             run_text(s, "rskip without"), "; with 120 steps of it post-LN ", run_text(s, "post-ln with"), ", recursive skip ",
             run_text(s, "rskip with"), "; difference ", with_warmup.text());
  const Help without = help(s, "post-ln without", "rskip without");
  const bool rescued = without == Help::works;
  const bool lower = with_warmup.below();
  if (rescued && lower) return holds(text);
  if (rescued)
    return holds_if(concat("there is no warm-up; with it ", with_warmup.above()   ? "one sum and one norm end lower"
                                                            : with_warmup.alike() ? "both are alike"
                                                                                  : "the difference is not decided"),
                    text);
  const bool open = without == Help::undecided;
  if (lower) return holds_if(concat("there is a warm-up; without it ", open ? "seeds disagree" : "it is no help"), text);
  return open ? undecided(text + ". Seeds of one of them disagree without warm-up") : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S54",
          .statement = "Adding the input recursively, with a norm each time, is easier to optimise than one sum and one norm.",
          .source = "text 000, reference of the paragraph after the formula (Liu F. et al., arXiv 2105.07205)",
          .expected =
              "without warm-up every seed trains, and none of one sum and one norm; with warm-up it ends lower, with all of the "
              "95 % interval. Not decided: seeds disagree",
          .changed =
              "with warm-up it first had to end lower in every seed, or by two spreads of post-LN's: 2.04 ± 0.04 against 2.14 ± "
              "0.01 (true). Without warm-up more seeds had to train: with GPT-2's weights, where most seeds of post-LN train, it "
              "was true only there",
          .earlier = {.verdict = "true only if there is no warm-up; with it the difference is not decided",
                      .why = "with GPT-2's weights seeds of post-LN disagree without warm-up"},
          .compares = true,
          .trains = true,
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s54
