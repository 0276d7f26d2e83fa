#include "addnorm/probe/probed_run.h"

#include <algorithm>
#include <chrono>

namespace addnorm {

void ProbedRun::on_plan(const RunPlan& plan) {
  view_.on_plan(plan);
  options_ = {.level = plan.options.probes, .every = static_cast<std::int64_t>(plan.options.probe_every)};
  if (options_.level == ProbeLevel::off || plan.first_step > static_cast<std::int64_t>(plan.options.steps)) return;
  log_ = std::make_unique<MetricsLog>(folder_.probes(), plan.first_step - 1,
                                      [this](const std::string& trouble) { view_.on_warning(trouble); });
  probe_ = std::make_unique<Probe>(options_, [this](const ProbeRecord& record) { log_->append(to_json(record)); });
}

void ProbedRun::on_saved(std::int64_t step, const std::filesystem::path& file) {
  if (log_) log_->sync();
  view_.on_saved(step, file);
}

void ProbedRun::on_part(std::int64_t step, const Batch& part) {
  if (probe_) probe_->on_part(step, part);
  view_.on_part(step, part);
}

StreamObservers ProbedRun::streams(std::int64_t step) {
  return probe_ && is_probed(step, options_.every) ? probe_->streams(step) : view_.streams(step);
}

void ProbedRun::on_loss(std::int64_t step, const Var& loss) {
  if (probe_) probe_->on_loss(step, loss);
  view_.on_loss(step, loss);
}

void ProbedRun::on_backward(std::int64_t step) {
  if (probe_) probe_->on_backward(step);
  view_.on_backward(step);
}

void ProbedRun::on_gradients(std::int64_t step, Model& model) {
  if (probe_) probe_->on_gradients(step, model);
  view_.on_gradients(step, model);
}

void ProbedRun::on_step(const StepRecord& record) {
  if (probe_) {
    const auto begin = std::chrono::steady_clock::now();  // what is measured after the update belongs to no step
    probe_->on_step(record);
    const std::chrono::duration<double> after = std::chrono::steady_clock::now() - begin;
    const bool probed = is_probed(record.step, options_.every);
    (probed ? probed_seconds_ : other_seconds_) += record.seconds + after.count();
    ++(probed ? probed_steps_ : other_steps_);
  }
  if (log_ && record.outcome == StepOutcome::rolled_back) log_->go_back(record.step - 1);
  view_.on_step(record);
}

ProbeCost ProbedRun::cost() const {
  ProbeCost cost{.every = options_.every, .records = probed_steps_, .file = folder_.probes()};
  if (other_steps_ == 0 || probed_steps_ == 0) return cost;
  const double usual = other_seconds_ / static_cast<double>(other_steps_);
  const double more = std::max(0.0, probed_seconds_ - usual * static_cast<double>(probed_steps_));
  cost.share = more / (probed_seconds_ + other_seconds_);
  return cost;
}

RunResult train_run_with_probes(const RunRequest& request, RunObserver& view) {
  ProbedRun run(view, request.folder);
  return train_run(request, run);
}

}  // namespace addnorm
