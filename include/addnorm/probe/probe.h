// Probe: watches a model train and records what happens on its residual stream. It changes no bit of what is learned.
#pragma once

#include <functional>
#include <memory>

#include "addnorm/probe/record.h"
#include "addnorm/train/run_options.h"
#include "addnorm/train/trainer.h"

namespace addnorm {

/// A UsageError names the field, its value and what is allowed.
void check(const ProbeOptions& options);
/// Steps 1, 2, 4, 8, ... below `every`, where most happens, and then every multiple of it.
bool is_probed(std::int64_t step, std::int64_t every);

/// Measures the first part of a probed step. A record is handed to `sink` after the step's update. Costs on a probed step: sums
/// of residual units and norms are not fused, gradients of the stream are copied, and each is read a few times; some third
/// of a step. With recompute there are no gradients of single units to be read: those lists stay empty. The full set runs extra
/// passes before the update, one and a half per unit and some more (docs/probes.md says what each is for and what it costs).
class Probe : public TrainObserver {
 public:
  Probe(const ProbeOptions& options, std::function<void(const ProbeRecord&)> sink);
  ~Probe() override;

  void on_part(std::int64_t step, const Batch& part) override;
  StreamObservers streams(std::int64_t step) override;
  void on_loss(std::int64_t step, const Var& loss) override;
  void on_backward(std::int64_t step) override;
  void on_gradients(std::int64_t step, Model& model) override;
  void on_step(const StepRecord& record) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace addnorm
