#include "addnorm/probe/probe.h"

#include <chrono>

#include "addnorm/core/error.h"
#include "probe/training/full_probe.h"
#include "probe/training/roles.h"
#include "probe/training/stream_probe.h"

namespace addnorm {
namespace {

using Clock = std::chrono::steady_clock;

/// The trainer runs backward from a part's share of the step's loss; records are of the part's own.
void undo_weight(ProbeRecord& record, std::size_t labels_of_part, std::size_t labels) {
  const double factor = static_cast<double>(labels) / static_cast<double>(labels_of_part);  // nothing was counted: NaN
  for (StackRecord& stack : record.stacks)
    for (auto* values : {&stack.gradient_norm, &stack.gradient_skip, &stack.gradient_branch})
      for (double& value : *values) value *= factor;
}

}  // namespace

void check(const ProbeOptions& options) {
  require(options.every >= 1, "probe_every is ", options.every, "; it must be at least 1 step");
}

bool is_probed(std::int64_t step, std::int64_t every) {
  const bool power_of_two = step > 0 && (step & (step - 1)) == 0;
  return step % every == 0 || (step < every && power_of_two);
}

struct Probe::Impl {
  Impl(const ProbeOptions& o, std::function<void(const ProbeRecord&)> s) : options(o), sink(std::move(s)) {}

  /// The first part of a probed step, and no part of any other.
  bool measuring(std::int64_t at) const { return options.level != ProbeLevel::off && is_probed(at, options.every) && parts == 1; }
  /// What `work` takes counts as the probes' time.
  template <class Work>
  void timed(Work&& work) {
    const auto begin = Clock::now();
    work();
    record.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  }

  ProbeOptions options;
  std::function<void(const ProbeRecord&)> sink;
  StreamProbe first{"stack"}, second{"decoder"};
  RoleProbe roles;
  FullProbe full;
  Model* model = nullptr;
  ProbeRecord record;
  std::int64_t step = 0;
  int parts = 0;                                // of this step that have begun
  std::size_t labels_of_first = 0, labels = 0;  // of the first part, and of all so far
};

Probe::Probe(const ProbeOptions& options, std::function<void(const ProbeRecord&)> sink) {
  check(options);
  impl_ = std::make_unique<Impl>(options, std::move(sink));
}
Probe::~Probe() = default;

void Probe::on_part(std::int64_t step, const Batch& part) {
  Impl& i = *impl_;
  i.parts = step == i.step ? i.parts + 1 : 1;
  i.step = step;
  if (i.options.level == ProbeLevel::off || !is_probed(step, i.options.every)) return;
  const std::size_t counted = part.counted();
  i.labels = i.parts == 1 ? counted : i.labels + counted;
  if (!i.measuring(step)) return;
  i.labels_of_first = counted;
  i.record = {.step = step};
  i.timed([&] {
    i.first.begin(part.lengths);
    i.second.begin(part.target_lengths);
    if (i.options.level == ProbeLevel::full) i.full.begin(step, part);
  });
}

StreamObservers Probe::streams(std::int64_t step) {
  if (!impl_->measuring(step)) return {};
  return {.stream = &impl_->first, .decoder = &impl_->second};
}

void Probe::on_loss(std::int64_t step, const Var& loss) {
  if (impl_->measuring(step)) impl_->record.loss = loss.value().item();
}

void Probe::on_backward(std::int64_t step) {
  Impl& i = *impl_;
  if (!i.measuring(step)) return;
  for (StreamProbe* probe : {&i.first, &i.second}) {
    probe->read_gradients();
    if (probe->used()) i.record.stacks.push_back(probe->record());
    i.record.seconds += probe->seconds();
  }
  if (i.record.stacks.size() == 2) i.record.stacks[0].name = "encoder";
}

void Probe::on_gradients(std::int64_t step, Model& model) {
  Impl& i = *impl_;
  i.model = &model;
  if (i.options.level == ProbeLevel::off || !is_probed(step, i.options.every)) return;
  i.timed([&] {
    if (i.labels != i.labels_of_first) undo_weight(i.record, i.labels_of_first, i.labels);
    i.roles.before_update(model);
    if (i.options.level == ProbeLevel::full) i.full.before_update(model, i.record);
  });
}

void Probe::on_step(const StepRecord& record) {
  Impl& i = *impl_;
  i.step = 0;  // the same step may come again: after a rollback
  if (i.options.level == ProbeLevel::off || i.record.step != record.step || record.outcome != StepOutcome::updated) return;
  i.timed([&] {
    i.record.roles = i.roles.after_update(*i.model);
    if (i.options.level == ProbeLevel::full) i.full.after_update(*i.model, i.record);
  });
  i.sink(i.record);
  i.record = {};
}

}  // namespace addnorm
