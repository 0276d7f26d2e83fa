#include "probe/training/full_probe.h"

#include <algorithm>
#include <cmath>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/tensor/arena.h"
#include "probe/measures/components.h"
#include "probe/training/roles.h"

namespace addnorm {
namespace {

/// What is measured of the stream at every place, in one pass: outliers, likeness of tokens, ranks, position.
class PlaceProbe final : public StreamObserver {
 public:
  explicit PlaceProbe(std::vector<std::size_t> lengths) : lengths_(std::move(lengths)) {}

  void on_branch(const Unit&, const Var&) override {}
  void on_stream(const Unit* unit, const Var& x) override {
    if (!unit) rows_ = x.shape().rank() == 3 ? rows_within(lengths_, x.shape()[1]) : RowMask();
    seen_.max_over_median.push_back(max_over_median(x.value(), rows_));
    seen_.kurtosis.push_back(kurtosis(x.value(), rows_));
    seen_.token_similarity.push_back(token_similarity(x.value(), rows_));
    const Ranks both = ranks(x.value(), rows_);
    seen_.stable_rank.push_back(both.stable);
    seen_.effective_rank.push_back(both.effective);
    seen_.position_accuracy.push_back(position_accuracy(x.value(), rows_));
  }

  void write_to(StackRecord& record) const {
    record.max_over_median = seen_.max_over_median;
    record.kurtosis = seen_.kurtosis;
    record.token_similarity = seen_.token_similarity;
    record.stable_rank = seen_.stable_rank;
    record.effective_rank = seen_.effective_rank;
    // A batch of one sequence, and rows of numbers, have no positions to distinguish.
    if (!std::ranges::all_of(seen_.position_accuracy, [](double v) { return std::isnan(v); }))
      record.position_accuracy = seen_.position_accuracy;
  }

 private:
  std::vector<std::size_t> lengths_;
  RowMask rows_;
  StackRecord seen_;
};

double length(const std::vector<double>& a) {
  double sum = 0;
  for (const double v : a) sum += v * v;
  return std::sqrt(sum);
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

}  // namespace

void DriftProbe::begin(std::int64_t step, std::vector<std::size_t> lengths) {
  before_ = std::move(now_);
  step_before_ = step_;
  now_.clear();
  step_ = step;
  lengths_ = std::move(lengths);
}

void DriftProbe::on_read(const Unit&, const Var& u) {
  now_.push_back(feature_moments(u.value(), u.shape().rank() == 3 ? rows_within(lengths_, u.shape()[1]) : RowMask()));
}

void DriftProbe::write_to(StackRecord& record) {
  if (before_.size() != now_.size() || step_ <= step_before_) return;
  const auto steps = static_cast<double>(step_ - step_before_);
  for (std::size_t i = 0; i < now_.size(); ++i) {
    const double scale = length(before_[i].deviation) * steps;
    record.drift_mean.push_back(scale > 0 ? distance(now_[i].mean, before_[i].mean) / scale : kNotMeasured);
    record.drift_deviation.push_back(scale > 0 ? distance(now_[i].deviation, before_[i].deviation) / scale : kNotMeasured);
  }
}

namespace {

double loss_of(const Var& logits, const Batch& batch) {
  return cross_entropy(logits, batch.labels, {.ignore_index = kIgnoredLabel}).value().item();
}

/// ln of the sum of e^z, over one row.
template <class T>
double log_sum(const T* z, std::size_t n) {
  const auto top = static_cast<double>(*std::max_element(z, z + n));
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(z[i]) - top);
  return top + std::log(sum);
}

}  // namespace

double mean_divergence(const Tensor& p, const Tensor& q, const Batch& batch) {
  const std::size_t classes = p.shape().back();
  double sum = 0, counted = 0;
  dispatch(p.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t r = 0; r < batch.labels.size(); ++r) {
      if (batch.labels[r] == kIgnoredLabel) continue;
      const T *a = p.data<T>() + r * classes, *b = q.data<T>() + r * classes;
      const double za = log_sum(a, classes), zb = log_sum(b, classes);
      for (std::size_t c = 0; c < classes; ++c) {
        const double la = static_cast<double>(a[c]) - za, lb = static_cast<double>(b[c]) - zb;
        sum += std::exp(la) * (la - lb);
      }
      ++counted;
    }
  });
  return counted > 0 ? sum / counted : kNotMeasured;
}

void run_cut(const Model& model, const Batch& batch, const Whole& whole, const std::string& stack, std::size_t units,
             StackRecord& record) {
  const NoGrad no_grad;
  for (std::size_t unit = 0; unit < units; ++unit) {
    const ArenaScope scope;
    const Var without = batch_logits(model, batch, {.cut = Cut{.stack = stack, .bypassed = {unit}}});
    record.bypass_change.push_back(loss_of(without, batch) - whole.loss);
    const Var lens = batch_logits(model, batch, {.cut = Cut{.stack = stack, .last_unit = unit}});
    record.lens_loss.push_back(loss_of(lens, batch));
    record.lens_kl.push_back(mean_divergence(whole.logits, lens.value(), batch));
  }
}

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
