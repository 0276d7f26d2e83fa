// S15: degradation: deeper is worse already on the training data, without skips.
#include <cmath>

#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s15 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const auto& [stack, name] : {std::pair{"plain-ln", "without skips"}, {"pre-ln", "with skips"}})
    for (const std::size_t units : {20u, 56u}) {
      SmallRun run = mixture_run(context, stack, units);
      run.steps = context.steps(run.steps);
      for (const RunSummary& summary : run_seeds(run, context)) s.add(concat(name, ", ", units), summary.last());
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("training loss (nats, 10 classes) of 20 and 56 normed feed-forward units: without skips ",
                                  s.text("without skips, 20"), " and ", s.text("without skips, 56"), "; with skips ",
                                  s.text("with skips, 20"), " and ", s.text("with skips, 56"));
  const double chance = std::log(10.0);
  if (s.least("without skips, 20") > chance - 0.1)
    return undecided(text + ". 20 units are at chance without skips already: nothing to compare");
  const bool degrades = s.least("without skips, 56") > s.most("without skips, 20");
  const bool kept =
      s.mean("with skips, 56") < s.mean("with skips, 20") + 0.1 && s.most("with skips, 56") < s.least("without skips, 20");
  if (degrades && kept) return holds(text);
  if (degrades) return holds_if("it is said of plain networks; with skips depth costs something too", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S15",
          .statement = "Very deep networks without residual connections have a higher training error; with them they do not.",
          .source = "text 001, Why Residuals Help, 3, and introduction",
          .expected =
              "without skips every seed is worse at 56 units than at 20; with skips the mean rises by less than 0.1 nats. "
              "Not decided: 20 units are within 0.1 nats of chance without skips",
          .changed = "with GPT-2's weights it was first false: without skips both 20 and 56 units stay at chance, 2.3 nats",
          .earlier = {"true", "with GPT-2's weights 20 units without skips are at chance already: nothing is left to get worse"},
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s15
