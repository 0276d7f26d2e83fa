#include "addnorm/train/objective.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/model/classifier.h"
#include "addnorm/model/encoder.h"
#include "addnorm/model/encoder_decoder.h"
#include "addnorm/model/language_model.h"
#include "addnorm/model/mlp.h"
#include "addnorm/tensor/arena.h"

namespace addnorm {
namespace {

Tokens source_of(const Batch& batch) { return {.ids = batch.ids, .batch = batch.sequences, .lengths = batch.lengths}; }
Tokens target_of(const Batch& batch) {
  return {.ids = batch.target_ids, .batch = batch.sequences, .lengths = batch.target_lengths};
}

Var rows_of(const Batch& batch, std::size_t width) {
  require(batch.features.size() == batch.sequences * width, "batch: ", batch.features.size(), " features for ", batch.sequences,
          " samples; the model takes ", width, " each");
  Tensor rows({batch.sequences, width});
  std::ranges::copy(batch.features, rows.values<float>().begin());
  return Var(std::move(rows));
}

const double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Each kind of model: what it makes of a batch, and the residual connections of its stacks.

Var logits_of(const LanguageModel& m, const Batch& b, const Pass& pass, StreamObservers o) {
  return m(source_of(b), pass, o.stream);
}
Var logits_of(const Encoder& m, const Batch& b, const Pass& pass, StreamObservers o) {
  return m.logits(source_of(b), pass, o.stream);
}
Var logits_of(const Classifier& m, const Batch& b, const Pass& pass, StreamObservers o) {
  return m(source_of(b), pass, o.stream);
}
Var logits_of(const Mlp& m, const Batch& b, const Pass& pass, StreamObservers o) {
  return m(rows_of(b, m.config().features), pass, o.stream);
}
Var logits_of(const EncoderDecoder& m, const Batch& b, const Pass& pass, StreamObservers o) {
  return m(source_of(b), target_of(b), pass, o.stream, o.decoder);
}

Var head_of(const Classifier& m, const Batch& b, const Var& y) { return m.head(y, b.lengths); }
template <class Other>
Var head_of(const Other& m, const Batch&, const Var& y) {
  return m.head(y);
}

Residuals stacks_of(EncoderDecoder& m) { return {&m.encoder().residual(), &m.decoder().residual()}; }
template <class OneStack>
Residuals stacks_of(OneStack& m) {
  return {&m.stack().residual()};
}

template <class Wanted, class Any, class See>
bool seen_as(Any& model, See& see) {
  using Kind = std::conditional_t<std::is_const_v<Any>, const Wanted, Wanted>;
  auto* kind = dynamic_cast<Kind*>(&model);
  if (kind) see(*kind);
  return kind != nullptr;
}
/// see(model as what it is); false: it is of a class of one's own.
template <class Any, class See>
bool with_kind(Any& model, See&& see) {
  return seen_as<LanguageModel>(model, see) || seen_as<Encoder>(model, see) || seen_as<Classifier>(model, see) ||
         seen_as<Mlp>(model, see) || seen_as<EncoderDecoder>(model, see);
}

}  // namespace

Var batch_logits(const Model& model, const Batch& batch, Pass pass, StreamObservers observers) {
  pass.first_sequence = batch.first;
  Var logits;
  const bool known = with_kind(model, [&](const auto& kind) { logits = logits_of(kind, batch, pass, observers); });
  require(known, "batch_logits: a model of a class of one's own; call it, and cross_entropy, yourself");
  return logits;
}

Var head_logits(const Model& model, const Batch& batch, const Var& y) {
  Var logits;
  const bool known = with_kind(model, [&](const auto& kind) { logits = head_of(kind, batch, y); });
  require(known, "head_logits: a model of a class of one's own");
  return logits;
}

Residuals residuals_of(Model& model) {
  Residuals all;
  with_kind(model, [&](auto& kind) { all = stacks_of(kind); });
  return all;
}

Var batch_loss(const Model& model, const Batch& batch, const Pass& pass, double label_smoothing) {
  return cross_entropy(batch_logits(model, batch, pass), batch.labels,
                       {.ignore_index = kIgnoredLabel, .label_smoothing = label_smoothing});
}

void calibrate(Model& model, const Batch& batch, const Pass& pass) {
  Pass training = pass;
  training.train = true;
  const auto measure = [&](Residual* residual, StreamObserver* StreamObservers::*place) {
    if (!residual || !residual->needs_calibration()) return;
    const NoGrad no_grad;
    residual->calibrate([&](StreamObserver* observer) {
      StreamObservers observers;
      observers.*place = observer;
      batch_logits(model, batch, training, observers);
    });
  };
  const Residuals all = residuals_of(model);
  measure(all.stream, &StreamObservers::stream);
  measure(all.decoder, &StreamObservers::decoder);
}

double Evaluation::perplexity() const { return std::exp(loss); }
double Evaluation::bits_per_byte() const { return bytes_per_label > 0 ? loss / std::numbers::ln2 / bytes_per_label : kUnknown; }
double Evaluation::accuracy() const { return labels > 0 ? static_cast<double>(right) / static_cast<double>(labels) : kUnknown; }
double Evaluation::exact_match() const {
  return sequences > 0 ? static_cast<double>(exact) / static_cast<double>(sequences) : kUnknown;
}

namespace {

/// Adds one batch's counts; the losses' sum is returned.
double count(const Tensor& logits, const Batch& batch, Evaluation& sum) {
  const std::size_t classes = logits.shape().back(), per_sample = batch.labels.size() / batch.sequences;
  const Var losses = cross_entropy(Var(logits), batch.labels, {.ignore_index = kIgnoredLabel, .reduction = Reduction::none});
  double total = 0;
  for (std::size_t s = 0; s < batch.sequences; ++s) {
    std::size_t here = 0, right = 0;
    for (std::size_t t = s * per_sample; t < (s + 1) * per_sample; ++t) {
      if (batch.labels[t] == kIgnoredLabel) continue;
      const float* row = logits.data<float>() + t * classes;
      ++here;
      right += std::max_element(row, row + classes) - row == batch.labels[t];
      total += static_cast<double>(losses.data<float>()[t]);
    }
    sum.labels += here;
    sum.right += right;
    sum.sequences += here > 0;
    sum.exact += here > 0 && right == here;
  }
  return total;
}

}  // namespace

Evaluation evaluate(const Model& model, const Dataset& data, std::uint64_t samples, std::size_t batch_size,
                    const std::function<bool()>& go_on) {
  const std::uint64_t all = samples ? samples : data.size();
  require(all > 0, "evaluate: the data is endless; say how many samples");
  require(batch_size > 0, "evaluate: batch_size is 0; it must be at least 1");
  Evaluation sum{.bytes_per_label = data.bytes_per_label()};
  double total = 0;
  for (std::uint64_t first = 0; first < all; first += batch_size) {
    if (go_on && !go_on()) {
      sum.stopped = true;
      break;
    }
    const ArenaScope scope;
    const NoGrad no_grad;
    const Batch batch = data.batch(first, static_cast<std::size_t>(std::min<std::uint64_t>(batch_size, all - first)));
    total += count(batch_logits(model, batch, {}).value(), batch, sum);
  }
  sum.loss = sum.labels > 0 ? total / static_cast<double>(sum.labels) : kUnknown;
  return sum;
}

}  // namespace addnorm
