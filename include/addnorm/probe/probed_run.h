// A run with probes: train_run, with RunOptions::probes written to probes.jsonl in the folder of the run.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "addnorm/probe/probe.h"
#include "addnorm/train/run.h"

namespace addnorm {

/// train_run with what RunOptions::probes and probe_every ask for: a line per record in the folder's probes.jsonl. Without probes
/// it is train_run.
RunResult train_run_with_probes(const RunRequest& request, RunObserver& view);

/// What the records of a run cost.
struct ProbeCost {
  std::int64_t every = 0;         ///< steps between records
  std::size_t records = 0;        ///< steps that were recorded by this process; 0: there is nothing to report
  std::optional<double> share{};  ///< of the time of all steps; nothing: every step was recorded
  std::filesystem::path file{};   ///< probes.jsonl
};

/// The observer used by train_run_with_probes, for callers that need the cost. It stands between train_run and `view`, which
/// gets every call; but on a step that is recorded the probe's observers of the stream take the place of those of `view`.
class ProbedRun : public RunObserver {
 public:
  ProbedRun(RunObserver& view, std::filesystem::path folder) : view_(view), folder_{std::move(folder)} {}

  ProbeCost cost() const;

  bool records_probes() const override { return true; }
  void on_memory(const MemoryEstimate& estimate) override { view_.on_memory(estimate); }
  void on_plan(const RunPlan& plan) override;
  void on_data(double share) override { view_.on_data(share); }
  void on_validation(std::int64_t step, const Evaluation& result, bool best) override { view_.on_validation(step, result, best); }
  void on_saved(std::int64_t step, const std::filesystem::path& file) override;
  void on_warning(const std::string& message) override { view_.on_warning(message); }
  bool go_on() override { return view_.go_on(); }

  void on_part(std::int64_t step, const Batch& part) override;
  StreamObservers streams(std::int64_t step) override;
  void on_loss(std::int64_t step, const Var& loss) override;
  void on_backward(std::int64_t step) override;
  void on_gradients(std::int64_t step, Model& model) override;
  void on_step(const StepRecord& record) override;

 private:
  RunObserver& view_;
  RunFolder folder_;
  ProbeOptions options_{};
  std::unique_ptr<Probe> probe_;
  std::unique_ptr<MetricsLog> log_;
  double probed_seconds_ = 0, other_seconds_ = 0;
  std::size_t probed_steps_ = 0, other_steps_ = 0;
};

}  // namespace addnorm
