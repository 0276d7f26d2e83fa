#include "cli/train/probed_run.h"

#include <algorithm>
#include <chrono>

#include "cli/terminal/figures.h"

namespace addnorm::cli {

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
}
StreamObservers ProbedRun::streams(std::int64_t step) { return probe_ ? probe_->streams(step) : StreamObservers{}; }
void ProbedRun::on_loss(std::int64_t step, const Var& loss) {
  if (probe_) probe_->on_loss(step, loss);
}
void ProbedRun::on_backward(std::int64_t step) {
  if (probe_) probe_->on_backward(step);
}
void ProbedRun::on_gradients(std::int64_t step, Model& model) {
  if (probe_) probe_->on_gradients(step, model);
}

void ProbedRun::on_step(const StepRecord& record) {
  if (probe_) {
    const auto begin = std::chrono::steady_clock::now();  // what is measured behind the update belongs to no step
    probe_->on_step(record);
    const std::chrono::duration<double> behind = std::chrono::steady_clock::now() - begin;
    const bool probed = is_probed(record.step, options_.every);
    (probed ? probed_seconds_ : other_seconds_) += record.seconds + behind.count();
    ++(probed ? probed_steps_ : other_steps_);
  }
  if (log_ && record.outcome == StepOutcome::rolled_back) log_->go_back(record.step - 1);
  view_.on_step(record);
}

std::string ProbedRun::told() const {
  if (!probe_ || probed_steps_ == 0) return "";
  std::string share;
  if (other_steps_ > 0) {
    const double usual = other_seconds_ / static_cast<double>(other_steps_);
    const double more = std::max(0.0, probed_seconds_ - usual * static_cast<double>(probed_steps_));
    share = concat(", ", fixed(100 * more / (probed_seconds_ + other_seconds_), 1), " % of the time");
  }
  return concat("probes: every ", options_.every, " steps", share, " (", folder_.probes().string(), ")");
}

}  // namespace addnorm::cli
