// What the loss would be without one unit, and if the stack ended after it (logit lens: the boosting view).
#pragma once

#include "addnorm/probe/record.h"
#include "addnorm/train/objective.h"

namespace addnorm {

struct Whole {
  Tensor logits;  ///< of the model as it is
  double loss = 0;
};

/// One pass for every unit with its branch at 0, and one that ends after it with the stack's usual exit: 1.5 forward passes per
/// unit. Fills record.bypass_change, lens_loss and lens_kl, for the stack of this name in the model ("stack", "encoder", ...).
void run_cut(const Model& model, const Batch& batch, const Whole& whole, const std::string& stack, std::size_t units,
             StackRecord& record);

/// Mean over the labels that count of KL(softmax(p) || softmax(q)), in nats.
double mean_divergence(const Tensor& p, const Tensor& q, const Batch& batch);

}  // namespace addnorm
