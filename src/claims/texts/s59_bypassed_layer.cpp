// S59: the by-pass makes the system more robust: what a trained network loses with one of its layers.
#include "addnorm/autograd/tape.h"
#include "addnorm/core/error.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::s59 {
namespace {

constexpr std::size_t kUnits = 8;

/// Share of held-out points named right.
double accuracy(const Model& model, const Dataset& data) { return evaluate(model, data, 512, 128).accuracy(); }

/// The model without its layer k: the layers above move down by one.
std::unique_ptr<Model> without(const Model& model, std::size_t k) {
  ModelConfig shorter = model.config();
  --shorter.layers;
  std::unique_ptr<Model> left = make_model(shorter);
  for_each_parameter(*left, [&](Parameter& to) {
    std::string path = to.path;
    if (to.place.layer && *to.place.layer >= k) {
      const std::string now = concat("layers.", *to.place.layer, "."), was = concat("layers.", *to.place.layer + 1, ".");
      path.replace(path.find(now), now.size(), was);
    }
    for_each_parameter(const_cast<Model&>(model), [&](Parameter& from) {
      if (from.path == path) to.value.value() = from.value.value().clone();
    });
  });
  return left;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const auto& [stack, name] : {std::pair{"plain-ln", "without skips"}, {"pre-ln", "with skips"}})
    for (const std::uint64_t seed : context.seeds) {
      SmallRun run = mixture_run(context, stack, kUnits);
      run.steps = context.steps(run.steps);
      run.seed = seed;
      const TrainedModel trained = train_small(run, context);
      const auto data = data_of(run, 7000 + seed);
      std::vector<double> left;
      for (std::size_t k = 0; k < kUnits; ++k) left.push_back(accuracy(*without(*trained.model, k), *data));
      s.add(concat(name, ", whole"), accuracy(*trained.model, *data));
      s.add(concat(name, ", one layer less"), median_of(left));
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("share of points named right by 8 trained units, and in the middle case when one is taken out: without skips ",
             s.text("without skips, whole"), " and ", s.text("without skips, one layer less"), "; with skips ",
             s.text("with skips, whole"), " and ", s.text("with skips, one layer less"));
  const double with = s.mean("with skips, whole") - s.mean("with skips, one layer less");
  const double without = s.mean("without skips, whole") - s.mean("without skips, one layer less");
  if (s.mean("with skips, whole") > 0.5 && s.mean("without skips, whole") < 0.5)
    return undecided(text + ". Without skips it does not train: nothing to take a layer out of");
  return with < 0.1 && without > 3 * with && without > 0.1 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S59",
          .statement = "Skips make a network more robust: an item can go past a station that it does not need.",
          .source = "text 003, Skip Connections, analogy",
          .expected =
              "taking one of 8 layers out costs less than 0.1 of the accuracy with skips and three times as much without. "
              "Not decided: without skips fewer than half of the points are named right by the whole",
          .changed = "with GPT-2's weights, with which 8 units without skips do not train, it was first false",
          .earlier = {"true", "with GPT-2's weights 8 units without skips do not train: there is nothing to take a layer out of"},
          .compares = true,
          .trains = true,
          .seeds = 5,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::s59
