// S58: a new layer does no harm: as a function, and as training finds it.
#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::s58 {
namespace {

/// Loss of a trained stack of 4 units, and of the same with a fifth one that adds zero on top.
std::pair<double, double> with_silent_layer(const SmallRun& run, const ClaimContext& context) {
  const TrainedModel four = train_small(run, context);
  ModelConfig longer = run.model;
  longer.layers = run.model.layers + 1;
  const auto five = started(longer, run.seed);
  std::vector<std::pair<std::string, Tensor>> from;
  for_each_parameter(*four.model, [&](Parameter& p) { from.emplace_back(p.path, p.value.value()); });
  for_each_parameter(*five, [&](Parameter& p) {
    if (p.place.layer == run.model.layers && is_matrix(p.role)) p.value.value() = Tensor::zeros(p.value.shape());
    for (const auto& [path, value] : from)
      if (path == p.path) p.value.value() = value.clone();
  });
  const NoGrad no_grad;
  const Batch batch = data_of(run, 9000 + run.seed)->batch(0, 256);
  return {batch_loss(*four.model, batch, {}).value().item(), batch_loss(*five, batch, {}).value().item()};
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    SmallRun run = mixture_run(context, "pre-ln", 4);
    run.steps = context.steps(run.steps);
    run.seed = seed;
    const auto [before, after] = with_silent_layer(run, context);
    s.add("change by a layer that adds zero", after - before);
  }
  for (const auto& [stack, name] : {std::pair{"post-ln", "Add & Norm"}, {"pre-ln", "pre-LN"}})
    for (const std::size_t units : {4u, 56u}) {
      SmallRun run = mixture_run(context, stack, units);
      run.steps = context.steps(run.steps);
      for (const RunSummary& summary : run_seeds(run, context)) s.add(concat(name, ", ", units, " units"), summary.last());
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("loss changes by ", s.text("change by a layer that adds zero"),
                                  " when a layer that adds zero is put on a trained "
                                  "stack; trained from the start with 4 and 56 units: Add & Norm ",
                                  s.text("Add & Norm, 4 units"), " and ", s.text("Add & Norm, 56 units"), ", pre-LN ",
                                  s.text("pre-LN, 4 units"), " and ", s.text("pre-LN, 56 units"));
  const bool expressible = s.most("change by a layer that adds zero") == 0 && s.least("change by a layer that adds zero") == 0;
  const bool harmless = s.least("Add & Norm, 56 units") <= s.most("Add & Norm, 4 units");
  if (expressible && harmless) return holds(text);
  if (expressible) return holds_if("it is said of what the larger network can express; what training finds gets worse", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S58",
          .statement = "With skips a new layer can at worst do no harm.",
          .source = "text 003, Skip Connections, core idea",
          .expected = "loss unchanged to the bit by a layer that adds zero, and no worse in training with 56 units than with 4",
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s58
