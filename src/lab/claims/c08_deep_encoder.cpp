// C8: a deep encoder: post-LN fails, pre-LN and learned combinations of layers (DLCL) train.
#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/small_runs.h"

namespace addnorm::lab::c08 {
namespace {

constexpr const char* kStacks[] = {"post-ln", "pre-ln", "dlcl-pre", "dlcl-post"};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const char* name : kStacks) {
    SmallRun run = seq2seq_run(context, name, 20, 2);
    run.rate = 2e-3;
    run.warmup = 100;
    run.steps = context.steps(600);
    add_losses(s, name, run, run_seeds(run, context));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text =
      "loss of a 20-layer encoder with a 2-layer decoder, turning words round, after 600 steps at 2e-3 with warm-up:";
  for (const char* name : kStacks) text += concat(name == kStacks[0] ? " " : ", ", name, " ", run_text(s, name));
  const auto trains = [&](const char* name) { return s.mean(concat(name, ", trained")) == 1; };
  const bool too_deep = s.mean("post-ln, trained") < 0.5 && trains("pre-ln");
  if (too_deep && trains("dlcl-pre") && trains("dlcl-post")) return holds(text);
  return too_deep ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C8",
      .statement =
          "With an encoder of 20 layers post-norm fails to train and pre-norm trains; a learned combination of layers (DLCL) "
          "trains in both forms.",
      .source = "Wang et al. 2019, arXiv 1906.01787",
      .expected =
          "with 100 steps of warm-up fewer than half of the seeds of post-ln train (loss below half of what frequencies alone "
          "give), all of pre-ln, dlcl-pre and dlcl-post. Mixed: one of the DLCL forms does not",
      .earlier =
          {"seen at this scale",
           "with GPT-2's weights one of three seeds of post-norm trains, and one of three of the post-normed DLCL does not"},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c08
