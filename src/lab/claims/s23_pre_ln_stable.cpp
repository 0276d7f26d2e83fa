// S23: is pre-LN more stable, and which pre-LN?
#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/small_runs.h"

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
  const double post = s.mean("post-ln, trained"), printed = s.mean("norm-skip, trained"), pre = s.mean("pre-ln, trained");
  if (post == 1) return undecided(text + ". Post-LN trains in every seed too: nothing to test it on");
  if (pre > post && printed > post) return holds(text);
  if (pre > post) return holds_if("PreLN is x + F(LN(x)); the formula that the text prints fails where post-LN fails", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S23",
          .statement = "PreLN can be more stable in training than PostLN.",
          .source = "text 001, Connection to Pre-LN",
          .expected =
              "more seeds train with it where post-LN does not, both for the printed formula and for the usual one. "
              "Not decided: post-LN trains in every seed",
          .compares = true,
          .trains = true,
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s23
