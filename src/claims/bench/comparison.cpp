#include "claims/bench/comparison.h"

#include <algorithm>

#include "addnorm/core/error.h"
#include "addnorm/lab/grid_result.h"
#include "claims/bench/experiment.h"
#include "core/figures.h"

namespace addnorm::lab {

SeedsTrained seeds_trained(const std::vector<double>& seeds) {
  const auto all_are = [&](double value) { return std::ranges::count(seeds, value) == std::ssize(seeds); };
  return all_are(0) ? SeedsTrained::none : all_are(1) ? SeedsTrained::all : SeedsTrained::some;
}

Help help(SeedsTrained without, SeedsTrained with) {
  if (with == SeedsTrained::none) return Help::fails;
  if (without == SeedsTrained::all) return Help::no_need;
  return without == SeedsTrained::none && with == SeedsTrained::all ? Help::works : Help::undecided;
}

ClaimVerdict verdict_on_help(const std::string& text, const Samples& samples, const NamedRun& without, const NamedRun& with) {
  switch (help(samples, without.name, with.name)) {
    case Help::works:
      return holds(text);
    case Help::fails:
      return fails(text);
    case Help::no_need:
      return undecided(concat(text, ". Every seed of ", without.shown, " trains too: nothing to test it on"));
    case Help::undecided:
      break;
  }
  const NamedRun& divided = seeds_trained(samples, without.name) == SeedsTrained::some ? without : with;
  return undecided(concat(text, ". Seeds of ", divided.shown, " disagree"));
}

namespace {

Difference between(const Spread& a, const Spread& b) {
  const auto square = [](const Spread& s) { return s.deviation * s.deviation / static_cast<double>(s.count); };
  const MeanDifference welch = difference_of(a, b);
  return {welch.difference, std::sqrt(square(a) + square(b)), welch.margin};
}

}  // namespace

SmallRun comparison_run(const ClaimContext& context, std::string_view arrangement) {
  SmallRun run = short_run(context, arrangement, 50);
  run.rate = 3e-3;
  run.steps = 300;
  return run;
}

void add_held_out(Samples& samples, const std::string& name, const SmallRun& run, const ClaimContext& context) {
  for (const RunSummary& summary : run_seeds(run, context)) samples.add(name, summary.held_out);
}

std::string Difference::text() const {
  return concat(figure_text(mean), ", 95 % interval ", figure_text(mean - margin), " to ", figure_text(mean + margin));
}

Difference difference(const Samples& samples, std::string_view of, std::string_view from) {
  return between(spread_of(samples.of(of)), spread_of(samples.of(from)));
}

Difference difference_from_zero(const Samples& samples, std::string_view of) {
  const Spread values = spread_of(samples.of(of));
  return between(values, {.count = values.count});  // without a deviation of its own: n - 1 degrees of freedom are left
}

std::string at_rate(std::string_view stack, double rate, std::string_view what) { return concat(stack, " at ", rate, what); }

double best_rate(const Samples& samples, std::string_view stack, std::span<const double> rates, std::string_view what) {
  const auto mean = [&](double rate) { return samples.mean(at_rate(stack, rate, what)); };
  double best = rates.front();
  for (const double rate : rates)
    if (mean(rate) < mean(best) || std::isnan(mean(best))) best = rate;
  return best;
}

}  // namespace addnorm::lab
