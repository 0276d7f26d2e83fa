// S42: does pre-norm train faster?
#include "addnorm/lab/outcome.h"
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s42 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const auto& [name, arrangement, warmup] : {std::tuple{"pre-LN without warm-up", "pre-ln", 0},
                                                  {"pre-LN with warm-up", "pre-ln", 120},
                                                  {"post-LN with warm-up", "post-ln", 120}}) {
    SmallRun run = short_run(context, arrangement, warmup);
    run.steps = context.steps(run.steps);
    const double line = trained_line(baselines_of(run));
    for (const RunSummary& summary : run_seeds(run, context)) {
      s.add(name, summary.steps_to(line));
      s.add(concat(name, ", trained"), trained(run, summary) ? 1 : 0);
      s.add("line", line);
    }
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("steps until the loss is below ", s.text("line"), ", at 5e-3: pre-LN without warm-up ",
                                  s.text("pre-LN without warm-up"), ", with warm-up ", s.text("pre-LN with warm-up"),
                                  "; post-LN with warm-up ", run_text(s, "post-LN with warm-up"));
  if (!all_train(s, "post-LN with warm-up"))
    return undecided(text + ". Post-LN does not train in every seed, and there is nothing to compare");
  const bool without = s.most("pre-LN without warm-up") < s.least("post-LN with warm-up");
  const bool with = s.most("pre-LN with warm-up") < s.least("post-LN with warm-up");
  if (without && with) return holds(text);
  if (without || with) return holds_if(without ? "the warm-up is left out" : "both are warmed up", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S42",
      .statement = "Part of pre-norm's success is that it trains faster.",
      .source = "text 002, second paragraph",
      .expected =
          "fewer steps to a loss three quarters of the way from unigram to bigram than post-norm with warm-up, every seed than "
          "any of post-norm's; with the same warm-up and without any",
      .changed =
          "the loss was typed in as 2.43, and post-norm did not have to train; 43 and 69 steps against 65 (true only if the "
          "warm-up is left out)",
      .earlier = {"true only if the warm-up is left out", "with GPT-2's weights pre-LN is sooner with the same warm-up too"},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s42
