// S16: a hundred layers.
#include "lab/claims/list.h"
#include "lab/experiment.h"
#include "lab/small_runs.h"

namespace addnorm::lab::s16 {
namespace {

constexpr const char* kStacks[] = {"plain-ln", "pre-ln"};
constexpr double kUnigram = 3.4;  // about what a model reaches that learned nothing but frequencies

Samples measure(const ClaimContext& context) {
  Samples s;
  std::vector<SmallRun> runs;
  for (const char* name : kStacks)
    for (const std::uint64_t seed : context.seeds) {
      SmallRun run = thin_run(name, 100);
      run.rate = 2e-3;
      run.steps = context.steps(180);
      run.seed = seed;
      runs.push_back(run);
    }
  const std::vector<RunSummary> done = run_all(runs, context);
  for (std::size_t i = 0; i < runs.size(); ++i) s.add(runs[i].model.arrangement, done[i].last());
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "loss of 100 decoder layers (200 units, d = 32) behind 180 steps, where knowing only frequencies gives 3.4: "
      "without skips ",
      s.text("plain-ln"), ", pre-LN ", s.text("pre-ln"));
  return s.most("pre-ln") < kUnigram - 0.3 && s.least("plain-ln") > kUnigram - 0.1 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S16",
          .statement = "Residual connections make it possible to train networks of more than 100 layers.",
          .source = "text 001, Why Residuals Help, 3",
          .expected = "in every seed 0.3 nats below what frequencies alone give with skips, and no better than them without",
          .changed =
              "120 steps were too short: pre-LN stood at 3.12 ± 0.05 against a line of 3.1 (false). Now 180, with the same line",
          .trains = true,
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s16
