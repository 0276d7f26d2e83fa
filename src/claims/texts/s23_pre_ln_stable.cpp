// S23: is pre-LN more stable, and which pre-LN?
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s23 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* name : {"post-ln", "norm-skip", "pre-ln"}) add_run(s, name, short_run(context, name), context);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("6-layer decoder at 5e-3 without warm-up: LN(x + F(x)) ", run_text(s, "post-ln"),
             "; LN(x) + F(LN(x)), the printed PreLN, ", run_text(s, "norm-skip"), "; x + F(LN(x)) ", run_text(s, "pre-ln"));
  const ClaimVerdict usual = verdict_on_help(text, s, {"post-ln", "post-LN"}, {"pre-ln", "x + F(LN(x))"});
  if (usual.finding != Finding::yes) return usual;
  switch (seeds_trained(s, "norm-skip")) {
    case SeedsTrained::all:
      return holds(text);
    case SeedsTrained::none:
      return holds_if("PreLN is x + F(LN(x)); the formula that the text prints fails where post-LN fails", text);
    default:
      return holds_if("PreLN is x + F(LN(x)); of the formula that the text prints it is not decided", text);
  }
}

}  // namespace

Claim claim() {
  return {
      .id = "S23",
      .statement = "PreLN can be more stable in training than PostLN.",
      .source = "text 001, Connection to Pre-LN",
      .expected =
          "every seed trains with it where none of post-LN does, both with the printed formula and with the usual one. "
          "Not decided: post-LN trains, or its seeds disagree",
      .changed =
          "first more seeds with it than with post-LN. With GPT-2's weights most seeds of post-LN train, and all of the usual "
          "pre-LN: it was true only of the latter there as well",
      .earlier = {"true only if PreLN is x + F(LN(x)); the formula that the text prints fails where post-LN fails",
                  "with GPT-2's weights seeds of post-LN disagree: whether it fails there is not decided"},
      .see = {{"S01",
               "there it is asked whether the place of the norm decides over training at all; here who is the stable one. "
               "These are the same runs: with either weights both verdicts turn on whether post-LN fails in every seed"},
              {"S46",
               "there post-LN is brittle if it fails at one of three rates, of which the highest is the one here; so both "
               "hang on the same runs, and neither is decided with GPT-2's weights"}},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s23
