#include <filesystem>
#include <utility>
#include <vector>

#include "addnorm/core/machine.h"
#include "addnorm/core/version.h"
#include "addnorm/data/text.h"
#include "addnorm/train/memory.h"
#include "core/file.h"
#include "core/json/json.h"
#include "core/system/files.h"
#include "train/run/one_run.h"
#include "train/run/prepared_run.h"
#include "train/run/records.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

std::set<fs::path> ids_in(const fs::path& folder) {
  std::set<fs::path> found;
  for (const fs::path& path : system_files::entries(folder).value_or(std::vector<fs::path>{}))
    if (path.extension() == ".tokens") found.insert(path);
  return found;
}

}  // namespace

/// Everything that can be refused, before anything is written. False: go_on() said no.
bool Run::prepare() {
  RunLock::check_free(folder_.path, words_);
  resumed_ = (request_.resume || request_.resume_or_start) && has_run(folder_);
  require(resumed_ || !request_.resume, folder_.path.string(), " has no run to resume. Leave ", called(words_, "resume"),
          " out to begin one there, or say ", called(words_, "resume_or_start"));
  require(resumed_ || !has_run(folder_), folder_.path.string(), " has a run already. ", called(words_, "resume"),
          " goes on with it; another ", called(words_, "folder"), " keeps both");
  if (!resumed_) require_used(request_.given);
  const GivenOptions given = resumed_ ? resumed_options(folder_, request_) : request_.given;
  require(
      given.options.probes == ProbeLevel::off || observer_.records_probes(),
      "train_run: probes is not off, and the observer records none. Call train_run_with_probes (addnorm/probe/probed_run.h), or "
      "leave probes out");
  RunOptions here = resumed_ ? options_here(given.options, folder_, request_) : given.options;
  if (!keep_standard_input(here)) return false;
  PreparedRun prepared = prepared_run(given, here, cache(), go_on_, resumed_ ? PlanOf::begun_run : PlanOf::new_run);
  if (!prepared.source) return false;
  source_ = std::move(prepared.source);
  options_ = std::move(prepared.options);
  data_ = std::move(prepared.data);
  data_paths_ = absolute_paths(here.data);
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

void Run::begin_or_go_on() {
  lock_ = std::make_unique<RunLock>(folder_.path, words_);
  require(resumed_ || !has_run(folder_), folder_.path.string(), " was begun by another process meanwhile; see its lock file");
  trial_.keep();
  checkpoints_ = std::make_unique<CheckpointFolder>(folder_.checkpoints(), options_.keep);
  make_trainer();
  std::optional<CheckpointFile> newest;
  if (resumed_) newest = last_good();
  if (newest)
    go_on_from(*newest);
  else
    begin();
  write_front();
  input_.reset();  // the folder has it now
  open_metrics();
  if (resumed_ && request_.replan) save(false);  // a checkpoint that agrees with run.json: replan is said once
}

void Run::make_trainer() {
  model_ = make_model(options_.model, Start::blank);
  model_->initialise(options_.seed);
  trainer_ = std::make_unique<Trainer>(*model_, *data_.train, trainer_options(options_));
  trainer_->observe(&observer_);
  trainer_->rollback_by([this] {
    const std::optional<CheckpointFile> good = last_good();
    if (good) trainer_->restore(*good, unpacked(good->record(), folder_.path.string()).trainer);
    return good.has_value();
  });
}

/// The newest checkpoint that verifies.
std::optional<CheckpointFile> Run::last_good() {
  return checkpoints_->newest_file([this](const std::string& broken) { observer_.on_warning(broken); });
}

void Run::go_on_from(const CheckpointFile& checkpoint) {
  const RunRecords records = unpacked(checkpoint.record(), folder_.path.string());
  check_goes_on(records, folder_, request_, options_, state_.fingerprint);
  if (records.version != version())
    observer_.on_warning(concat("this checkpoint was written by addnorm ", records.version, ", this is ", version(),
                                ": the run goes on, though not always to the same bits"));
  trainer_->restore(checkpoint, records.trainer);
  state_ = records.run;
  saved_step_ = trainer_->steps();
  require(saved_step_ <= static_cast<std::int64_t>(options_.steps), folder_.path.string(), " has done ", saved_step_,
          " steps already; ", called(words_, "steps"), " ", options_.steps, " is fewer");
}

void Run::begin() {
  if (resumed_ && !checkpoints_->files().empty())
    throw DataError(
        concat(folder_.path.string(),
               ": none of its checkpoints can be read, see above; what is there stays as it is. Begin anew in another ",
               called(words_, "folder")));
  if (resumed_ && is_there(folder_.path / "model.safetensors"))
    throw DataError(concat(folder_.path.string(),
                           ": has weights and no checkpoint to go on from; beginning anew would replace them. Say another ",
                           called(words_, "folder"), ", or move model.safetensors away"));
  trainer_->calibrate();
  resumed_ = false;
}

/// What says which run it is: run.json, tokenizer.json, input.txt.
void Run::write_front() {
  const bool known = is_there(folder_.record());
  RunRecord record = known ? read_run_record(folder_) : new_run_record(to_json(options_));
  record.options = to_json(options_);
  record.data_paths = options_.data == std::vector<std::string>{"-"} ? options_.data : data_paths_;
  record.data_fingerprint = state_.fingerprint;
  if (const auto& b = data_.baselines)
    record.baselines = Json{{"floor", b->floor}, {"uniform", b->uniform}, {"unigram", b->unigram}, {"bigram", b->bigram}}.dump();
  record.initialisation = initialisation_record(options_.model);
  if (input_) copy_whole_file(input_->path, folder_.input());
  write_run_record(folder_, record);
  front_ = record;
  if (const auto tokenizer = source_->tokenizer()) replace_text(folder_.tokenizer(), tokenizer->to_json());
}

void Run::check_memory() {
  MemoryEstimate memory = estimate_memory(options_.model, {.optimizer = options_.optimizer.kind,
                                                           .batch_size = options_.batch_size,
                                                           .accumulate = options_.grad_accum,
                                                           .recompute = options_.recompute});
  memory.data = static_cast<double>(source_->held_bytes());
  observer_.on_memory(memory);
  require_fits(memory, available_memory(), words_);
}

TrialFolder::TrialFolder(const fs::path& folder)
    : folder_(system_files::absolute(folder).lexically_normal()), before_(ids_in(folder_)) {
  for (fs::path at = folder_; at.has_relative_path() && !is_there(at); at = at.parent_path()) missing_.push_back(at);
}

// Only what is empty: another process may have begun its run here meanwhile.
TrialFolder::~TrialFolder() {
  if (kept_) return;
  for (const fs::path& ids : ids_in(folder_))
    if (!before_.contains(ids)) system_files::remove(ids);
  for (const fs::path& made : missing_) system_files::remove_empty_folder(made);
}

}  // namespace addnorm
