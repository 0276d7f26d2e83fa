#include "addnorm/train/objective.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/tensor/arena.h"

namespace addnorm {
namespace {

const double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

ModelInput input_of(const Batch& batch) {
  return {.tokens = {.ids = batch.ids, .batch = batch.sequences, .lengths = batch.lengths},
          .target = {.ids = batch.target_ids, .batch = batch.sequences, .lengths = batch.target_lengths},
          .features = batch.features,
          .samples = batch.sequences};
}

Var batch_logits(const Model& model, const Batch& batch, Pass pass, StreamObservers observers) {
  pass.first_sequence = batch.first;
  return model.logits(input_of(batch), pass, observers);
}

Var head_logits(const Model& model, const Batch& batch, const Var& y) { return model.head(input_of(batch), y); }

Residuals residuals_of(Model& model) {
  const std::vector<Stack*> stacks = model.stacks();
  Residuals all;
  if (!stacks.empty()) all.stream = &stacks.front()->residual();
  if (stacks.size() > 1) all.decoder = &stacks.back()->residual();
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
