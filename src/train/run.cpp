#include "addnorm/train/run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <thread>

#include "addnorm/core/machine.h"
#include "addnorm/data/text.h"
#include "addnorm/model/model.h"
#include "addnorm/train/checkpoint.h"
#include "addnorm/train/weights.h"
#include "core/file.h"
#include "train/flops.h"
#include "train/run_records.h"
#include "train/run_resume.h"
#include "train/run_sources.h"

namespace addnorm {
namespace {

constexpr int kMostFailedSaves = 5;  // in a row; until then training goes on with what is in memory

/// One run in its folder, from the first step to the last.
class Run {
 public:
  Run(const RunRequest& request, RunObserver& observer) : request_(request), observer_(observer), folder_{request.folder} {}
  RunResult train();

 private:
  bool prepare();
  bool keep_standard_input(RunOptions& options);
  void check_memory();
  void begin_or_go_on();
  void make_trainer();
  std::optional<Snapshot> last_good();
  void go_on_from(Snapshot snapshot);
  void begin();
  void announce();
  void loop();
  bool one_step();
  void open_metrics();
  void write_front();
  void save_best();
  void keep_what_is_good() noexcept;
  void validate();
  bool save(bool last);
  void try_to_save();
  bool due(std::size_t every) const {
    const auto step = static_cast<std::size_t>(trainer_->steps());
    return step % every == 0 || step == options_.steps;
  }

  std::filesystem::path cache() const { return request_.cache.empty() ? folder_.path : request_.cache; }

  const RunRequest& request_;
  RunObserver& observer_;
  RunFolder folder_;
  std::function<bool(double)> go_on_ = [this](double share) {
    observer_.on_data(share);
    return observer_.go_on();
  };
  RunOptions options_;
  std::unique_ptr<KeptFile> input_;      // the standard input, until the folder has it
  std::vector<std::string> data_paths_;  // where options_.data was found
  std::unique_ptr<RunSource> source_;
  RunData data_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<RunLock> lock_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<CheckpointFolder> checkpoints_;
  std::unique_ptr<MetricsLog> metrics_;
  RunState state_;
  RunResult result_{.loss = std::numeric_limits<double>::quiet_NaN()};
  bool resumed_ = false;
  int failed_saves_ = 0;
  std::int64_t saved_step_ = -1;    // of the newest checkpoint
  std::int64_t weights_step_ = -1;  // of model.safetensors, as far as this process knows
};

/// Everything that can be refused, before anything is written. False: go_on() said no.
bool Run::prepare() {
  resumed_ = (request_.resume || request_.resume_or_start) && has_run(folder_);
  require(resumed_ || !request_.resume, folder_.path.string(),
          " has no run to resume. Leave --resume out to begin one there, or say "
          "--resume-or-start");
  require(resumed_ || !has_run(folder_), folder_.path.string(),
          " has a run already. --resume goes on with it; another --out keeps both");
  if (!resumed_) require_used(request_.given);
  const GivenOptions given = resumed_ ? resumed_options(folder_, request_) : request_.given;
  RunOptions here = resumed_ ? options_here(given.options, folder_, request_) : given.options;
  if (!keep_standard_input(here)) return false;
  source_ = open_source(here, cache(), go_on_);
  if (!source_) return false;
  data_paths_ = absolute_paths(here.data);
  options_ = resumed_ ? given.options : planned(given, source_->facts());
  source_->fill(options_.model);
  options_.model = completed(options_.model);
  data_ = source_->datasets(options_);
  if (options_.validation <= 0) data_.validation.reset();
  state_.fingerprint = source_->fingerprint();
  return true;
}

/// False: go_on() said no.
bool Run::keep_standard_input(RunOptions& options) {
  if (options.data != std::vector<std::string>{"-"}) return true;
  input_ = kept_standard_input(cache(), go_on_);
  if (input_) options.input = input_->path;
  return input_ != nullptr;
}

void Run::announce() {
  const double flops =
      static_cast<double>(options_.grad_accum) * flops_per_step(options_.model, options_.batch_size, options_.model.seq_len);
  observer_.on_plan({.options = options_,
                     .data = data_,
                     .parameters = count_parameters(*model_),
                     .groups = trainer_->optimizer().groups(),
                     .flops_per_step = flops,
                     .first_step = resumed_ ? saved_step_ + 1 : 1});
}

void Run::begin_or_go_on() {
  lock_ = std::make_unique<RunLock>(folder_.path);
  require(resumed_ || !has_run(folder_), folder_.path.string(), " was begun by another process meanwhile; see its lock file");
  checkpoints_ = std::make_unique<CheckpointFolder>(folder_.checkpoints(), options_.keep);
  make_trainer();
  std::optional<Snapshot> newest;
  if (resumed_) newest = last_good();
  if (newest)
    go_on_from(std::move(*newest));
  else
    begin();
  write_front();
  input_.reset();  // the folder has it now
  open_metrics();
}

void Run::make_trainer() {
  model_ = make_model(options_.model);
  model_->initialise(options_.seed);
  trainer_ = std::make_unique<Trainer>(*model_, *data_.train, trainer_options(options_));
  trainer_->observe(&observer_);
  trainer_->rollback_to([this]() -> std::optional<Snapshot> {
    std::optional<Snapshot> good = last_good();
    if (good) good->record = unpacked(good->record, folder_.path.string()).trainer;
    return good;
  });
}

/// The newest checkpoint that verifies.
std::optional<Snapshot> Run::last_good() {
  return checkpoints_->newest([this](const std::string& broken) { observer_.on_warning(broken); });
}

void Run::go_on_from(Snapshot snapshot) {
  const RunRecords records = unpacked(snapshot.record, folder_.path.string());
  check_goes_on(records, folder_, request_, options_, state_.fingerprint);
  snapshot.record = records.trainer;
  trainer_->restore(snapshot);
  state_ = records.run;
  saved_step_ = trainer_->steps();
  require(saved_step_ <= static_cast<std::int64_t>(options_.steps), folder_.path.string(), " has done ", saved_step_,
          " steps already; --steps ", options_.steps, " is fewer");
}

void Run::begin() {
  if (resumed_ && !checkpoints_->files().empty())
    throw DataError(concat(folder_.path.string(),
                           ": none of its checkpoints can be read, see above; what is there stays as it is. "
                           "Begin anew in another --out"));
  trainer_->calibrate();
  resumed_ = false;
}

/// What says which run it is: run.json, tokenizer.json, input.txt.
void Run::write_front() {
  std::error_code ignored;
  const bool known = std::filesystem::exists(folder_.record(), ignored);
  RunRecord record = known ? read_run_record(folder_) : new_run_record(to_json(options_));
  record.options = to_json(options_);
  record.data_paths = options_.data == std::vector<std::string>{"-"} ? options_.data : data_paths_;
  record.data_fingerprint = state_.fingerprint;
  if (input_) {
    std::ifstream kept(input_->path, std::ios::binary);
    saved_text(kept, folder_.input());
  }
  write_run_record(folder_, record);
  if (const auto tokenizer = source_->tokenizer()) replace_text(folder_.tokenizer(), tokenizer->to_json());
}

/// Lines of steps that are not done (any more) are dropped.
void Run::open_metrics() {
  metrics_.reset();
  metrics_ = std::make_unique<MetricsLog>(folder_.metrics(), trainer_->steps(),
                                          [this](const std::string& trouble) { observer_.on_warning(trouble); });
}

/// False: the run went back.
bool Run::one_step() {
  const StepRecord record = trainer_->step();
  result_.loss = record.loss;
  if (!record.problem.empty()) observer_.on_warning(record.problem);
  if (record.outcome != StepOutcome::rolled_back) {
    metrics_->append(metrics_line(record));
    return true;
  }
  open_metrics();
  state_.measured = std::min(state_.measured, static_cast<std::uint64_t>(trainer_->steps()));  // later ones are to be made again
  metrics_->append(rollback_line(trainer_->steps(), record));
  return false;
}

/// Weights last: where they are, everything that belongs to them is.
void Run::save_best() {
  std::filesystem::create_directories(folder_.best());
  if (const auto tokenizer = source_->tokenizer()) replace_text(folder_.best() / "tokenizer.json", tokenizer->to_json());
  save_model(folder_.best(), *model_, source_->extra());
}

void Run::validate() {
  const std::uint64_t all = data_.validation->size();
  const std::uint64_t samples = all ? std::min<std::uint64_t>(all, options_.eval_samples) : options_.eval_samples;
  const Evaluation found =
      evaluate(*model_, *data_.validation, samples, options_.batch_size, [this] { return observer_.go_on(); });
  if (found.stopped) return;
  state_.measured = static_cast<std::uint64_t>(trainer_->steps());
  const bool best = std::isfinite(found.loss) && (!state_.best || found.loss < *state_.best);
  try {
    if (best) save_best();
    if (best) state_.best = found.loss;
    if (best) state_.best_step = state_.measured;
  } catch (const Error& error) {
    observer_.on_warning(error.what());
  }
  result_.validation = found;
  metrics_->append(metrics_line(trainer_->steps(), found, data_.pairs));
  observer_.on_validation(trainer_->steps(), found, best);
}

void Run::try_to_save() {
  Snapshot snapshot = trainer_->snapshot();
  snapshot.record = packed({.trainer = snapshot.record, .run = state_, .options = to_json(options_)});
  metrics_->sync();
  checkpoints_->save(snapshot);
  saved_step_ = snapshot.step;
  if (!std::filesystem::exists(folder_.record())) write_front();  // somebody removed the folder
  save_model(folder_.path, *model_, source_->extra());
  weights_step_ = snapshot.step;
}

/// False: it could not be done this time. The error is passed on after several failures in a row; where it is the last chance,
/// they are tried within some seconds.
bool Run::save(bool last) {
  while (true) {
    try {
      try_to_save();
      failed_saves_ = 0;
      observer_.on_saved(trainer_->steps(), folder_.path);
      return true;
    } catch (const Error& error) {
      if (++failed_saves_ >= kMostFailedSaves) throw;
      observer_.on_warning(concat(error.what(), "; trying again ", last ? "in a second" : "after the next step"));
      if (!last) return false;
      std::this_thread::sleep_for(std::chrono::seconds(1));
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
  // Weights too: whoever was killed between a checkpoint and its weights goes on with weights of an earlier step.
  if (trainer_->steps() > saved_step_ || trainer_->steps() != weights_step_) save(true);
}

/// Something went wrong between two updates: parameters and optimizer are those of the last one.
void Run::keep_what_is_good() noexcept {
  try {
    if (failed_saves_ < kMostFailedSaves && trainer_->steps() > saved_step_) try_to_save();
  } catch (const std::exception& error) {
    observer_.on_warning(error.what());
  }
}

void Run::check_memory() {
  const MemoryEstimate memory = estimate_memory(options_.model, {.optimizer = options_.optimizer.kind,
                                                                 .batch_size = options_.batch_size,
                                                                 .accumulate = options_.grad_accum,
                                                                 .recompute = options_.recompute});
  observer_.on_memory(memory);
  require_fits(memory, available_memory());
}

RunResult Run::train() {
  const auto begun = std::chrono::steady_clock::now();
  if (!prepare()) return result_;
  check_memory();
  if (resumed_ && !request_.resume_or_start) check_has_checkpoint(folder_);
  begin_or_go_on();
  announce();
  try {
    loop();
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

}  // namespace

RunResult train_run(const RunRequest& request, RunObserver& observer) { return Run(request, observer).train(); }

}  // namespace addnorm
