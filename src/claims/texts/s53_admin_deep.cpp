// S53: Admin in a stack that is too deep for post-LN.
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s53 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* name : {"post-ln", "admin"}) add_run(s, name, deep_run(context, name), context);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("16 layers at 1e-3 with 100 steps of warm-up: post-LN ", run_text(s, "post-ln"), ", Admin ", run_text(s, "admin"));
  return verdict_on_help(text, s, {"post-ln", "plain post-LN"}, {"admin", "Admin"});
}

}  // namespace

Claim claim() {
  return {
      .id = "S53",
      .statement = "Admin's measured weights of the skip let a deep post-norm Transformer train.",
      .source = "text 002, references of the second paragraph (Liu et al., arXiv 2004.08249)",
      .expected =
          "every seed trains and none of plain post-LN, 16 layers with warm-up. Not decided: all of it train, or seeds disagree",
      .changed = "first fewer than half of plain post-LN; the verdicts were the same",
      .earlier = {"true", "with GPT-2's weights plain post-LN of 16 layers trains, better than with Admin: nothing to rescue"},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s53
