#include "lab/comparison.h"

#include <cmath>

#include "addnorm/core/error.h"

namespace addnorm::lab {

SmallRun comparison_run(std::string_view arrangement) {
  SmallRun run = short_run(arrangement, 50);
  run.rate = 3e-3;
  run.steps = 300;
  return run;
}

void add_held_out(Samples& samples, const std::string& name, const SmallRun& run, const ClaimContext& context) {
  for (const RunSummary& summary : run_seeds(run, context))
    samples.add(name, summary.broke_off ? std::nan("") : summary.held_out);
}

std::string Difference::text() const { return concat(figure_text(mean), ", standard error ", figure_text(error)); }

Difference difference(const Samples& samples, std::string_view of, std::string_view from) {
  const auto error = [&](std::string_view name) {
    return samples.spread(name) / std::sqrt(static_cast<double>(samples.of(name).size()));
  };
  return {samples.mean(of) - samples.mean(from), std::hypot(error(of), error(from))};
}

}  // namespace addnorm::lab
