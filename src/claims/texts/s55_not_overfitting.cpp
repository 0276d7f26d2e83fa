// S55: degradation is not overfitting.
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s55 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::size_t units : {4u, 56u}) {
    SmallRun run = mixture_run(context, "plain-ln", units);
    run.steps = context.steps(run.steps);
    for (const RunSummary& summary : run_seeds(run, context)) {
      s.add(concat(units, " units, training"), summary.last());
      s.add(concat(units, " units, held out"), summary.held_out);
    }
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("loss without skips, training and held-out data: 4 units ", s.text("4 units, training"), " and ",
             s.text("4 units, held out"), "; 56 units ", s.text("56 units, training"), " and ", s.text("56 units, held out"));
  const bool worse = s.least("56 units, training") > s.most("4 units, training");
  const double rise = s.mean("56 units, training") - s.mean("4 units, training");
  const double gap = s.mean("56 units, held out") - s.mean("56 units, training");
  return worse && gap < 0.1 * rise ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S55",
          .statement = "Deeper networks can get worse, and not by overfitting: they are harder to train.",
          .source = "text 003, Skip Connections, motivation",
          .expected =
              "the training loss itself is higher with depth in every seed; the gap to held-out data explains less than a tenth "
              "of it",
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s55
