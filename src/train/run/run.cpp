#include "addnorm/train/run.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "addnorm/train/weights.h"
#include "core/file.h"
#include "core/system/machine.h"
#include "train/run/one_run.h"
#include "train/run/options_json.h"
#include "train/run/records.h"

namespace addnorm {

constexpr int kMostFailedSaves = 5;  // in a row; until then training goes on with what is in memory

void Run::announce() {
  observer_.on_plan({.options = options_,
                     .data = data_,
                     .parameters = count_parameters(*model_),
                     .groups = trainer_->optimizer().groups(),
                     .first_step = resumed_ ? saved_step_ + 1 : 1});
}

void Run::open_metrics() {
  metrics_ = std::make_unique<MetricsLog>(folder_.metrics(), trainer_->steps(),
                                          [this](const std::string& trouble) { observer_.on_warning(trouble); });
}

/// False: the run went back.
bool Run::one_step() {
  const StepRecord record = trainer_->step();
  result_.loss = record.loss;
  if (!record.problem.empty())
    observer_.on_warning(concat(record.problem, record.outcome == StepOutcome::rolled_back
                                                    ? concat("; gone back to step ", trainer_->steps())
                                                    : "; this update was left out"));
  if (record.outcome != StepOutcome::rolled_back) {
    metrics_->append(metrics_line(record));
    return true;
  }
  metrics_->go_back(trainer_->steps());
  state_.measured = std::min(state_.measured, static_cast<std::uint64_t>(trainer_->steps()));  // later ones are to be made again
  metrics_->append(rollback_line(trainer_->steps(), record));
  return false;
}

/// Weights last: where they are, everything that belongs to them is.
void Run::save_best() {
  hold_folder();
  make_folder(folder_.best());
  if (const auto tokenizer = source_->tokenizer()) replace_text(folder_.best() / "tokenizer.json", tokenizer->to_json());
  save_model(folder_.best(), *model_, source_->extra());
}

void Run::validate() {
  const std::uint64_t all = data_.validation->size();
  const std::uint64_t samples = all ? std::min<std::uint64_t>(all, options_.eval_samples) : options_.eval_samples;
  const Evaluation found =
      evaluate(*model_, *data_.validation, samples, options_.batch_size, [this] { return observer_.go_on(); });
  if (found.stopped) return;
  const auto step = static_cast<std::uint64_t>(trainer_->steps());
  const bool best = std::isfinite(found.loss) && (!state_.best || found.loss < *state_.best);
  try {
    if (best) save_best();
    if (best) state_.best = found.loss;
    if (best) state_.best_step = step;
  } catch (const Error& error) {
    observer_.on_warning(error.what());
  }
  state_.measured = step;
  result_.validation = found;
  metrics_->append(metrics_line(trainer_->steps(), found, data_.pairs));
  observer_.on_validation(trainer_->steps(), found, best);
}

/// Whether the folder's run.json is the one that this process wrote.
bool Run::is_ours() const {
  if (!has_run(folder_)) return true;
  const RunRecord there = read_run_record(folder_);
  return there.begun == front_.begun && there.data_fingerprint == front_.data_fingerprint &&
         differences(there.options, front_.options).empty();
}

/// Where the folder was removed or moved, it is made and locked again.
void Run::hold_folder() {
  if (lock_ && lock_->guards_its_folder()) return;
  const bool lost_input = options_.data == std::vector<std::string>{"-"};
  observer_.on_warning(concat(folder_.path.string(), " was removed or moved, or its lock was; it is made anew",
                              lost_input ? " without input.txt, what came by the standard input" : ""));
  lock_.reset();
  lock_ = std::make_unique<RunLock>(folder_.path, words_);
  if (!is_ours()) {
    lock_.reset();
    throw DataError(concat(folder_.path.string(), ": another run stands there now; this one writes nothing into it"));
  }
  write_front();
  open_metrics();
}

void Run::try_to_save() {
  hold_folder();
  Snapshot snapshot = trainer_->snapshot();
  snapshot.record = packed({.trainer = snapshot.record, .run = state_, .options = json_of(options_)});
  metrics_->sync();
  checkpoints_->save(snapshot);
  saved_step_ = snapshot.step;
  save_model(folder_.path, *model_, source_->extra());
  weights_step_ = snapshot.step;
}

/// False: it could not be done this time. The error is passed on after several failures in a row; where it is the last chance,
/// they are tried within a second.
bool Run::save(bool last) {
  while (true) {
    try {
      try_to_save();
      failed_saves_ = 0;
      observer_.on_saved(trainer_->steps(), folder_.path);
      return true;
    } catch (const Error& error) {
      if (++failed_saves_ >= kMostFailedSaves) throw;
      observer_.on_warning(concat(error.what(), "; trying again ", last ? "in a moment" : "after the next step"));
      if (!last) return false;
      sleep_for(request_.pause);
    }
  }
}

void Run::loop() {
  bool owed = false;  // a save that failed
  const auto steps = static_cast<std::int64_t>(options_.steps);
  const auto measure = [&] {
    const bool missing = state_.measured != static_cast<std::uint64_t>(trainer_->steps());  // a signal may have come between
    if (data_.validation && trainer_->steps() > 0 && due(options_.eval_every) && missing) validate();
  };
  measure();
  while (trainer_->steps() < steps && observer_.go_on()) {
    if (!one_step()) continue;
    measure();
    if (due(options_.save_every) || owed) owed = !save(trainer_->steps() >= steps);
  }
  // Weights too: a run that was killed between a checkpoint and its weights goes on with weights of an earlier step.
  if (trainer_->steps() > saved_step_ || trainer_->steps() != weights_step_) save(true);
}

/// The last line of metrics.jsonl says why there is no next step.
void Run::note_end(const NumericsError& error) noexcept {
  try {
    metrics_->append(stopped_line(trainer_->steps() + 1, error.what()));
  } catch (...) {  // the error itself is still reported
  }
}

/// Something went wrong between two updates: parameters and optimizer are those of the last one.
void Run::keep_what_is_good() noexcept {
  try {
    try {
      if (failed_saves_ < kMostFailedSaves && trainer_->steps() > saved_step_) try_to_save();
    } catch (const std::exception& error) {
      observer_.on_warning(error.what());
    }
  } catch (...) {  // not even memory for the warning: the error that brought us here is reported
  }
}

RunResult Run::train() {
  const auto begun = std::chrono::steady_clock::now();
  if (!prepare()) return result_;
  check_memory();
  if (resumed_ && !request_.resume_or_start) check_has_checkpoint(folder_, words_);
  begin_or_go_on();
  announce();
  try {
    loop();
  } catch (const NumericsError& error) {
    note_end(error);
    keep_what_is_good();
    throw;
  } catch (...) {
    keep_what_is_good();
    throw;
  }
  result_.steps = trainer_->steps();
  result_.finished = result_.steps >= static_cast<std::int64_t>(options_.steps);
  result_.best = state_.best;
  result_.best_step = static_cast<std::int64_t>(state_.best_step);
  result_.model = options_.model.model;
  result_.data = data_;
  result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return result_;
}

RunResult train_run(const RunRequest& request, RunObserver& observer) { return Run(request, observer).train(); }

}  // namespace addnorm
