// S51: Adafactor in place of a warm-up.
#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/small_runs.h"

namespace addnorm::lab::s51 {
namespace {

// Adafactor's rate is relative to the RMS of a parameter, sqrt(2 / (64 + 64)) for Xavier's square matrices here: with this factor
// its steps begin as large as Adam's (C35 does the same).
constexpr double kSameSteps = 8;

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::adafactor}) {
    SmallRun run = short_run("post-ln");
    run.optimizer = kind;
    if (kind == OptimizerKind::adafactor) run.rate *= kSameSteps;
    add_run(s, kind == OptimizerKind::adam ? "Adam" : "Adafactor", run, context);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("6 post-LN layers at 5e-3 without warm-up: Adam ", s.text("Adam"), " (", s.text("Adam, trained"),
             " of runs trained), Adafactor with first steps of the same size (a relative rate of 0.04) ", s.text("Adafactor"),
             " (", s.text("Adafactor, trained"), ")");
  return s.mean("Adafactor, trained") == 1 && s.mean("Adam, trained") < 0.5 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S51",
      .statement = "Adafactor trains a post-norm Transformer without the warm-up that Adam needs.",
      .source = "text 002, references of the second paragraph (arXiv 1804.04235)",
      .expected = "every seed trains with Adafactor, fewer than half with Adam, at rates that give first steps of the same size",
      .changed =
          "both had the rate 5e-3, which is relative to a parameter's RMS of about 0.125 in Adafactor: its steps were some 8 "
          "times smaller. Then every seed trained, at 2.10 ± 0.02 (true)",
      .trains = true,
      .seeds = 3,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::s51
