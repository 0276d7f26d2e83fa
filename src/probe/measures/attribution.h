// Direct logit attribution: how much of the logits each component of the stream brings by itself.
#pragma once

#include <functional>

#include "addnorm/train/objective.h"
#include "probe/measures/components.h"
#include "probe/measures/measures.h"

namespace addnorm {

/// see(component, logits) for every component after the exit norm (components.take_exit() has been called), and at last for
/// number parts().size(): the head's bias, the same row everywhere. They add up to the logits. One head product each.
void for_each_contribution(const Model& model, const Batch& batch, const Components& components,
                           const std::function<void(std::size_t component, const Tensor& logits)>& see);

/// By component, the head's bias counted to the biases of norms: mean over labels of z_label - mean of z, z the logits that the
/// component brings. What does not move the label against the average class brings nothing. Adds up to that of the whole logits.
std::vector<double> logit_attribution(const Model& model, const Batch& batch, const Components& components);

/// Over the labels that count: z_label - mean of z. One row for all labels where `logits` has one.
RunningMean label_margins(const Tensor& logits, const std::vector<std::int32_t>& labels);

}  // namespace addnorm
