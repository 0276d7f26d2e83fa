// Which options a run goes on with, and whether it may.
#pragma once

#include "addnorm/train/run.h"
#include "addnorm/train/run_folder.h"

namespace addnorm {

/// The folder has a run, begun or finished.
bool has_run(const RunFolder& folder);

/// The options of the run in the folder, with those that may change as they are given now. A UsageError shows every difference
/// that is not allowed.
GivenOptions resumed_options(const RunFolder& folder, const RunRequest& request);

}  // namespace addnorm
