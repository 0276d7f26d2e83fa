// One run in its folder, from the first step to the last: beginning it (begin.cpp) and its steps (run.cpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/model/model.h"
#include "addnorm/train/checkpoint.h"
#include "addnorm/train/run.h"
#include "addnorm/train/run_data.h"
#include "addnorm/train/run_folder.h"
#include "addnorm/train/trainer.h"
#include "train/run/records.h"
#include "train/run/sources.h"

namespace addnorm {

/// The folder of a run before it is one. Where ids of text are kept in the folder of the run itself, the folder is made before
/// the run is known to be possible. Unless keep() is called, what was made for that is removed: ids, and folders that hold
/// nothing else.
class TrialFolder {
 public:
  explicit TrialFolder(const std::filesystem::path& folder);
  ~TrialFolder();
  TrialFolder(const TrialFolder&) = delete;
  TrialFolder& operator=(const TrialFolder&) = delete;
  void keep() { kept_ = true; }

 private:
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> missing_;  // folders, the deepest first
  std::set<std::filesystem::path> before_;      // ids that were there
  bool kept_ = false;
};

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
  std::optional<CheckpointFile> last_good();
  void go_on_from(const CheckpointFile& checkpoint);
  void begin();
  void announce();
  void loop();
  bool one_step();
  void open_metrics();
  void hold_folder();
  bool is_ours() const;
  void write_front();
  void save_best();
  void note_end(const NumericsError& error) noexcept;
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
  const FieldWords& words_ = request_.given.options.words;
  RunObserver& observer_;
  RunFolder folder_;
  std::function<bool(double)> go_on_ = [this](double share) {
    observer_.on_data(share);
    return observer_.go_on();
  };
  TrialFolder trial_{folder_.path};  // stands before what puts files there, and so goes after it
  RunOptions options_;
  std::unique_ptr<KeptFile> input_;      // the standard input, until the folder has it
  std::vector<std::string> data_paths_;  // where options_.data was found
  std::shared_ptr<const RunSource> source_;
  RunData data_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<RunLock> lock_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<CheckpointFolder> checkpoints_;
  std::unique_ptr<MetricsLog> metrics_;
  RunRecord front_;  // run.json as this process wrote it
  RunProgress state_;
  RunResult result_{.loss = std::numeric_limits<double>::quiet_NaN()};
  bool resumed_ = false;
  int failed_saves_ = 0;
  std::int64_t saved_step_ = -1;    // of the newest checkpoint
  std::int64_t weights_step_ = -1;  // of model.safetensors, as far as this process knows
};

}  // namespace addnorm
