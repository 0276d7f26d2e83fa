// What a model is trained for, whatever its kind: from a batch to logits, a loss, and counts of what was right.
#pragma once

#include <functional>

#include "addnorm/data/dataset.h"
#include "addnorm/model/model.h"

namespace addnorm {

/// The batch as models read it. It refers to the batch.
ModelInput input_of(const Batch& batch);

/// Logits of everything that the batch has a label for: [sequences, tokens, vocabulary], or [sequences, classes]. A batch whose
/// fields do not fit the kind of model is a UsageError. Cost: one forward pass; what backward needs is kept unless NoGrad.
Var batch_logits(const Model& model, const Batch& batch, Pass pass, StreamObservers observers = {});

/// The end of batch_logits: from what comes out of the model's last stack to logits.
Var head_logits(const Model& model, const Batch& batch, const Var& y);

/// The residual connections of Model::stacks(); `decoder` is that of the second one.
struct Residuals {
  Residual* stream = nullptr;
  Residual* decoder = nullptr;
};
Residuals residuals_of(Model& model);

/// Mean cross-entropy over the labels that count, in nats; 0 where none does. One forward pass; the loss is float32, its sum
/// double.
Var batch_loss(const Model& model, const Batch& batch, const Pass& pass, double label_smoothing = 0);

/// The measured coefficients of arrangements that have some (Admin), from one pass over the batch in training mode: once before
/// the first update, never again. Nothing to do for all others.
void calibrate(Model& model, const Batch& batch, const Pass& pass);

/// How a model does on data, without dropout. Sums are in double, in the order of samples, so they do not depend on how many go
/// into a batch beyond the rounding of the logits.
struct Evaluation {
  double loss = 0;             ///< nats per label, without label smoothing
  std::size_t labels = 0;      ///< that counted
  std::size_t right = 0;       ///< labels whose class has the highest logit (the lowest of equals)
  std::size_t sequences = 0;   ///< samples with at least one label
  std::size_t exact = 0;       ///< samples all of whose labels were right
  double bytes_per_label = 0;  ///< of the data; 0: not known
  bool stopped = false;        ///< before all samples were seen

  double perplexity() const;     ///< e^loss
  double bits_per_byte() const;  ///< loss / ln 2 / bytes_per_label; NaN where that is not known
  double accuracy() const;       ///< right / labels; NaN without labels
  double exact_match() const;    ///< exact / sequences; NaN without any
};

/// Over samples 0 ... samples - 1 (0: one epoch), `batch_size` at a time: a forward pass of each, with the memory of one batch
/// and nothing kept for backward. `go_on` is asked before every batch.
Evaluation evaluate(const Model& model, const Dataset& data, std::uint64_t samples, std::size_t batch_size,
                    const std::function<bool()>& go_on = {});

}  // namespace addnorm
