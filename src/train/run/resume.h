// Which options a run goes on with, and whether it may.
#pragma once

#include "addnorm/train/run.h"
#include "addnorm/train/run_folder.h"
#include "train/run/records.h"

namespace addnorm {

/// The folder has a run, begun or finished.
bool has_run(const RunFolder& folder);

/// The options of the run in the folder, with those that may change as they are given now. A UsageError shows every difference
/// that is not allowed.
GivenOptions resumed_options(const RunFolder& folder, const RunRequest& request);

/// With paths that lead to where the data and the tokenizer of the run are now.
RunOptions options_here(RunOptions options, const RunFolder& folder, const RunRequest& request);
void check_has_checkpoint(const RunFolder& folder, const FieldWords& words);
/// What a checkpoint was made with is what the run goes on with: the options, as run.json and the request have them now, and the
/// data. A DataError names what differs.
void check_goes_on(const RunRecords& checkpoint, const RunFolder& folder, const RunRequest& request, const RunOptions& now,
                   std::uint64_t fingerprint);

}  // namespace addnorm
