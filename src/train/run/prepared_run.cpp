#include "train/run/prepared_run.h"

#include <functional>

#include "addnorm/model/config.h"

namespace addnorm {

RunOptions options_for_data(const GivenOptions& given, const RunSource& source, PlanOf plan) {
  RunOptions options = plan == PlanOf::begun_run ? given.options : planned(given, source.facts());
  source.fill(options.model);
  options.model = completed(options.model, options.words);
  return options;
}

PreparedRun prepared_run(const GivenOptions& given, const RunOptions& here, const std::filesystem::path& cache,
                         const std::function<bool(double share)>& go_on, PlanOf plan) {
  PreparedRun run{.source = open_source(here, cache, go_on)};
  if (!run.source) return run;
  run.options = options_for_data(given, *run.source, plan);
  run.data = run.source->datasets(run.options);
  return run;
}

}  // namespace addnorm
