// S51: Adafactor in place of a warm-up.
#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/small_runs.h"

namespace addnorm::lab::s51 {
namespace {

/// Adafactor's rate is relative to the RMS of a parameter: over that of square matrices at the start (1/8 by Xavier's rule, 0.02
/// by GPT-2's) their steps begin as large as Adam's (C35 does the same). Those of gains, whose RMS is 1, are as many times
/// larger.
double relative(const ClaimContext& context, const SmallRun& run) {
  return run.rate / start_deviation(context, Role::q, {.width = run.model.d_model, .layers = run.model.layers});
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::adafactor})
    for (const bool small : {false, true}) {
      SmallRun run = short_run(context, "post-ln");
      run.optimizer = kind;
      if (kind == OptimizerKind::adafactor) run.rate = relative(context, run);
      if (kind == OptimizerKind::adafactor && !small) s.add("relative rate", run.rate);
      if (small) run.rate /= 8;
      add_run(s, concat(kind == OptimizerKind::adam ? "Adam" : "Adafactor", small ? " by an eighth" : ""), run, context);
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const auto rescued = [&](const char* adam, const char* adafactor) {
    return s.mean(concat(adafactor, ", trained")) == 1 && s.mean(concat(adam, ", trained")) < 0.5;
  };
  const std::string text =
      concat("6 post-LN layers without warm-up: Adam at 5e-3 ", run_text(s, "Adam"),
             ", Adafactor whose matrices begin with steps as large (a relative rate of ", s.text("relative rate"), ") ",
             run_text(s, "Adafactor"), "; with steps an eighth of these Adam ", run_text(s, "Adam by an eighth"), ", Adafactor ",
             run_text(s, "Adafactor by an eighth"));
  if (s.mean("Adam, trained") >= 0.5 && s.mean("Adam by an eighth, trained") >= 0.5)
    return undecided(text + ". Adam needs no warm-up here: nothing to test it on");
  if (rescued("Adam", "Adafactor")) return holds(text);
  if (rescued("Adam by an eighth", "Adafactor by an eighth")) return holds_if("steps are an eighth as large", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S51",
      .statement = "Adafactor trains a post-norm Transformer without the warm-up that Adam needs.",
      .source = "text 002, references of the second paragraph (arXiv 1804.04235)",
      .expected =
          "every seed trains with Adafactor, fewer than half with Adam, where steps of the matrices begin equally large. True "
          "only if: not so with the steps of Adam at 5e-3, but with those an eighth as large. Not decided: at least half train "
          "with Adam at "
          "either size",
      .changed =
          "both had the rate 5e-3, which is relative to a parameter's RMS of about 0.125 in Adafactor: its steps were some 8 "
          "times smaller than those of the Adam it was compared with. Then every seed trained, at 2.10 ± 0.02 (true). With "
          "steps of the same size none of three did (2.80 ± 0.52, false); the smaller ones were added after that, for both",
      .earlier = {"false", "with GPT-2's weights Adam trains two of three seeds without warm-up: nothing to rescue"},
      .compares = true,
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s51
