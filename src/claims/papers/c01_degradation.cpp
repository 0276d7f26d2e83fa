// C1: deeper networks without skips have the higher training error, those with skips do not.
#include <cmath>

#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab::c01 {
namespace {

double gradient_at_start(const SmallRun& run) {
  const auto model = started(run.model, run.seed);
  return profile_of(*model, data_of(run, run.seed)->batch(0, run.batch)).gradient_ratio();
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const auto& [stack, name] : {std::pair{"plain-ln", "plain"}, {"pre-ln", "residual"}})
    for (const std::size_t units : {20u, 56u}) {
      SmallRun run = mixture_run(context, stack, units);
      run.steps = context.steps(run.steps);
      for (const RunSummary& summary : run_seeds(run, context)) s.add(concat(name, " ", units), summary.last());
    }
  SmallRun deep = mixture_run(context, "plain-ln", 56);
  for (const std::uint64_t seed : context.seeds) {
    context.check();
    deep.seed = seed;
    s.add("gradient of plain 56", gradient_at_start(deep));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const Difference rise = difference(s, "residual 56", "residual 20");
  const std::string text =
      concat("training loss (nats, 10 classes) of 20 and 56 normed feed-forward units: without skips ", s.text("plain 20"),
             " and ", s.text("plain 56"), "; with skips ", s.text("residual 20"), " and ", s.text("residual 56"), ", a rise of ",
             rise.text(), "; gradient at the bottom over that at the top of 56 units without skips, before the first step: ",
             s.text("gradient of plain 56"));
  if (s.least("plain 20") > std::log(10.0) - 0.1)
    return undecided(text + ". 20 units are at chance without skips already: nothing to compare");
  const bool degrades = s.least("plain 56") > s.most("plain 20");
  if (degrades && rise.no_higher()) return holds(text);
  return degrades ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "C1",
          .statement = "Without skips a network of 56 units has a higher training loss than one of 20; with skips it has not.",
          .source = "He et al. 2015, arXiv 1512.03385",
          .expected =
              "without skips every seed is worse at 56 units than any at 20; with skips the mean does not rise by 0.05 nats "
              "or more, with all of the 95 % interval. Mixed: only the first. Not decided: 20 units are within 0.1 "
              "nats of chance without skips. The gradient is reported, and decides nothing",
          .changed = "with GPT-2's weights it was first not seen: without skips both 20 and 56 units stay at chance, 2.3 nats",
          .earlier = {"seen at this scale",
                      "with GPT-2's weights 20 units without skips are at chance already: nothing is left to get worse"},
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::c01
