// A run before its model: data opened, options planned, completed from the data and checked.
#pragma once

#include "addnorm/train/run_data.h"
#include "addnorm/train/run_options.h"

namespace addnorm {

struct PreparedRun {
  std::shared_ptr<const RunSource> source{};  ///< null: go_on said no
  RunOptions options{};                       ///< complete: sizes, steps, vocabularies, classes
  RunData data{};
};

/// Which options: those of a new run, or those of a run that has begun, which were planned then.
enum class PlanOf : unsigned char { new_run, begun_run };

/// What was given, for this data: planned, then filled in from the data, then completed and checked.
RunOptions options_for_data(const GivenOptions& given, const RunSource& source, PlanOf plan = PlanOf::new_run);
/// Opens the data as `here` names it (the options of `given`, with files as they are found here and now) and does the rest.
PreparedRun prepared_run(const GivenOptions& given, const RunOptions& here, const std::filesystem::path& cache,
                         const std::function<bool(double share)>& go_on, PlanOf plan = PlanOf::new_run);

}  // namespace addnorm
