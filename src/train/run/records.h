// What a run writes about itself besides tensors, and whether it may go on from that.
#pragma once

#include <optional>
#include <string>

#include "addnorm/train/objective.h"
#include "addnorm/train/run.h"
#include "addnorm/train/run_folder.h"
#include "addnorm/train/trainer.h"
#include "core/json/json.h"

namespace addnorm {

/// What a run knows beyond its trainer.
struct RunProgress {
  std::uint64_t fingerprint = 0;  ///< of the data
  std::optional<double> best{};   ///< lowest validation loss so far
  std::uint64_t best_step = 0;
  std::uint64_t measured = 0;  ///< step of the last measurement of validation data
};

/// The record of a checkpoint: {"version": "...", "trainer": {...}, "run": {...}, "options": {...}}.
struct RunRecords {
  std::string trainer;  ///< JSON
  RunProgress run;
  Json options;           ///< those it was made with: run.json can be edited by hand
  std::string version{};  ///< of the program that wrote it: packed() says its own
};
std::string packed(const RunRecords& records);
RunRecords unpacked(const std::string& record, const std::string& where);

std::string metrics_line(const StepRecord& record);
/// Only what means something: see RunData::pairs.
std::string metrics_line(std::int64_t step, const Evaluation& validation, bool pairs);
/// The run went back from step `record.step` to `step`.
std::string rollback_line(std::int64_t step, const StepRecord& record);
/// The run ended at step `step`, which has no update: a number was not finite.
std::string stopped_line(std::int64_t step, const std::string& why);

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
