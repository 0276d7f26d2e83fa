// A run: data, model, trainer and a folder in which nothing that was learned gets lost.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "addnorm/train/memory.h"
#include "addnorm/train/run_data.h"
#include "addnorm/train/run_options.h"

namespace addnorm {

/// What is known before the first step.
struct RunPlan {
  const RunOptions& options;
  const RunData& data;
  std::size_t parameters = 0;
  std::vector<ParameterGroup> groups{};
  std::int64_t first_step = 1;  ///< above 1: resumed; above options.steps: there is nothing left to do
};

/// Hears what happens to a run, and is asked whether it shall go on. It must not throw.
class RunObserver : public TrainObserver {
 public:
  virtual void on_memory(const MemoryEstimate& /*estimate*/) {}  ///< before anything is allocated
  virtual void on_plan(const RunPlan& /*plan*/) {}
  virtual void on_data(double /*share*/) {}  ///< of the text that was read and tokenised so far
  virtual void on_validation(std::int64_t /*step*/, const Evaluation& /*result*/, bool /*best*/) {}
  virtual void on_saved(std::int64_t /*step*/, const std::filesystem::path& /*file*/) {}
  virtual void on_warning(const std::string& /*message*/) {}
  /// Between steps, between parts of a measurement and while text is read; false: save and end.
  virtual bool go_on() { return true; }
  /// True of an observer that does what RunOptions::probes asks for, as train_run_with_probes has one (probe/probed_run.h).
  virtual bool records_probes() const { return false; }
};

struct RunRequest {
  std::filesystem::path folder{};  ///< is made
  std::filesystem::path cache{};   ///< of tokenised text; empty: the folder
  GivenOptions given{};
  bool resume = false;                   ///< go on from the newest checkpoint that verifies; an error where there is none
  bool resume_or_start = false;          ///< the same, but begin where there is none
  bool replan = false;                   ///< a resumed schedule that depends on the number of steps may get another
  std::chrono::milliseconds pause{200};  ///< between tries of the last save, on a disk that refuses it
};

struct RunResult {
  std::int64_t steps = 0;
  bool finished = false;  ///< false: go_on() said no
  double loss = 0;        ///< of the last step; NaN: there was none
  std::optional<Evaluation> validation{};
  std::optional<double> best{};  ///< lowest validation loss
  std::int64_t best_step = 0;    ///< when it was measured
  double seconds = 0;            ///< of this call, all included
  ModelKind model = ModelKind::lm;
  RunData data{};  ///< for a look at single samples
};

/// Trains, from the start or on. The folder has a run already and resume is not said, options differ from those of the run, data
/// has changed, memory does not suffice, another process has the folder, the options ask for probes and the observer records none
/// (train_run_with_probes has one that does): an Error, and nothing is touched.
/// NumericsError after the state before the bad step was saved.
///
/// Signals: a thread that computes must not be interrupted by a handler that runs on that thread's stack, because oneDNN's
/// products use the stack pointer as an ordinary register. Block the signals before the first thread is made, wait for them in
/// your own thread (sigwait) and let go_on() say no; docs/architecture.md has the reasons and the other way (SA_ONSTACK).
RunResult train_run(const RunRequest& request, RunObserver& observer);

}  // namespace addnorm
