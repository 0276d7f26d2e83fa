// C8: a deep encoder: post-LN fails, pre-LN and learned combinations of layers (DLCL) train.
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

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
  if (all_train(s, "post-ln") || none_trains(s, "pre-ln")) return fails(text);
  if (help(s, "post-ln", "pre-ln") == Help::undecided)
    return undecided(concat(text, ". Seeds of ", none_trains(s, "post-ln") ? "pre-ln" : "post-ln", " disagree"));
  return all_train(s, "dlcl-pre") && all_train(s, "dlcl-post") ? holds(text) : mixed(text);
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
          "with 100 steps of warm-up no seed of post-ln trains (loss below half of what frequencies alone give), and all of "
          "pre-ln, dlcl-pre and dlcl-post. Mixed: not all of the DLCL forms. Not decided: seeds of post-ln or pre-ln disagree",
      .changed =
          "first fewer than half of the seeds of post-ln: with GPT-2's weights, where one of three trains, it was mixed, as one "
          "of three of the post-normed DLCL does not",
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
