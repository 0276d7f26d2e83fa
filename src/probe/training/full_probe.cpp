#include "probe/training/full_probe.h"

#include <algorithm>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/tensor/arena.h"
#include "probe/measures/attribution.h"
#include "probe/training/cut_passes.h"
#include "probe/training/gradient_noise.h"
#include "probe/training/place_probe.h"

namespace addnorm {
namespace {

constexpr std::size_t kMostComponentElements = std::size_t{1} << 25;  // of all components together, 256 MiB

/// The first sequences of a batch, few enough for a pass per unit and for a copy of the stream per unit.
Batch first_sequences(const Batch& batch, Model& model) {
  const ModelConfig& config = model.config();
  const Residuals residuals = residuals_of(model);
  const std::size_t units = residuals.stream->shape().units() + (residuals.decoder ? residuals.decoder->shape().units() : 0);
  std::size_t count = cut_sequences(batch.sequences, units);
  const std::size_t components = units + 4;
  const std::size_t tokens = std::max({batch.ids.size(), batch.target_ids.size(), batch.sequences}) / batch.sequences;
  while (count > 1 && count * tokens * config.d_model * components > kMostComponentElements) count /= 2;
  return sequences_of(batch, 0, count);
}

Tensor kept(const Tensor& x) {
  const OutsideArenaScopes outside;
  return x.clone();
}

double distance_over_length(const Tensor& a, const Tensor& b) { return norm(sub(Var(a), Var(b)).value()) / norm(b); }

}  // namespace

std::size_t cut_sequences(std::size_t sequences, std::size_t units) {
  return std::min(sequences, std::clamp(kMostCuts / std::max<std::size_t>(1, units), kLeastCutSequences, kMostCutSequences));
}

void FullProbe::begin(std::int64_t step, const Batch& part) {
  step_ = step;
  batch_ = part;
  snr_.clear();
}

void FullProbe::before_update(Model& model, ProbeRecord& record) {
  if (record.stacks.empty() || !residuals_of(model).stream) return;
  {
    const NoGrad no_grad;
    if (fixed_.sequences == 0) fixed_ = first_sequences(batch_, model);
    const Batch some = first_sequences(batch_, model);
    measure_places(model, record);
    measure_drift(model, record);
    measure_components(model, some, record);
  }
  snr_ = gradient_snr(model, batch_);
}

void FullProbe::measure_places(const Model& model, ProbeRecord& record) {
  const ArenaScope scope;
  PlaceProbe first(batch_.lengths), second(batch_.target_lengths);
  logits_ = kept(batch_logits(model, batch_, {}, {.stream = &first, .decoder = &second}).value());
  first.write_to(record.stacks[0]);
  if (record.stacks.size() > 1) second.write_to(record.stacks[1]);
}

void FullProbe::measure_drift(const Model& model, ProbeRecord& record) {
  const ArenaScope scope;
  drift_.begin(step_, fixed_.lengths);
  drift_of_decoder_.begin(step_, fixed_.target_lengths);
  batch_logits(model, fixed_, {}, {.stream = &drift_, .decoder = &drift_of_decoder_});
  drift_.write_to(record.stacks[0]);
  if (record.stacks.size() > 1) drift_of_decoder_.write_to(record.stacks[1]);
}

/// And what is by unit: the passes that leave one out.
void FullProbe::measure_components(Model& model, const Batch& some, ProbeRecord& record) {
  const Residuals residuals = residuals_of(model);
  std::optional<Components> first, second;
  if (const auto* row = Components::row_of(residuals.stream)) first.emplace(*row, some.lengths);
  if (const auto* row = Components::row_of(residuals.decoder)) second.emplace(*row, some.target_lengths);
  Whole whole;
  {
    const ArenaScope scope;
    const Var logits =
        batch_logits(model, some, {}, {.stream = first ? &*first : nullptr, .decoder = second ? &*second : nullptr});
    whole.logits = kept(logits.value());
    whole.loss = cross_entropy(logits, some.labels, {.ignore_index = kIgnoredLabel}).value().item();
  }
  record.probe_loss = whole.loss;
  const auto write = [&](StackRecord& stack, std::optional<Components>& components, const Residual& residual, bool last) {
    run_cut(model, some, whole, residual.shape().name, residual.shape().units(), stack);
    if (!components) return;
    stack.dependency = components->dependency();
    stack.skip_share = components->skip_share();
    double gain = 1;
    for (const double share : stack.skip_share) gain *= share;
    stack.skip_gain = gain;
    if (!last) return;
    components->take_exit();
    stack.logit_attribution = logit_attribution(model, some, *components);
  };
  write(record.stacks[0], first, *residuals.stream, !residuals.decoder);
  if (residuals.decoder && record.stacks.size() > 1) write(record.stacks[1], second, *residuals.decoder, true);
}

void FullProbe::after_update(const Model& model, ProbeRecord& record) {
  if (!logits_.defined()) return;
  const NoGrad no_grad;
  const ArenaScope scope;
  record.model_change = distance_over_length(batch_logits(model, batch_, {}).value(), logits_);
  logits_ = Tensor();
  for (RoleRecord& role : record.roles)
    if (const auto found = snr_.find(role.role); found != snr_.end()) role.gradient_snr = found->second;
}

}  // namespace addnorm
