// What a run writes about itself besides tensors: a part of its checkpoints, and the lines of metrics.jsonl.
#pragma once

#include <optional>
#include <string>

#include "addnorm/train/objective.h"
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

}  // namespace addnorm
