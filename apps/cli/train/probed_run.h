// A run whose residual stream is recorded: between the trainer and whoever shows the run.
#pragma once

#include <memory>

#include "addnorm/probe/probe.h"
#include "addnorm/train/run.h"

namespace addnorm::cli {

/// Passes everything on to `view` that a RunObserver hears, and the end of steps. What happens within a step (parts, streams,
/// loss, gradients) only the options' probes see; it goes to probes.jsonl in the run's folder, one line per record.
class ProbedRun : public RunObserver {
 public:
  ProbedRun(RunObserver& view, std::filesystem::path folder) : view_(view), folder_{std::move(folder)} {}

  std::string told() const;  ///< "probes: every 10 steps, 3 % of the time (runs/x/probes.jsonl)"; "" without

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

}  // namespace addnorm::cli
