// Which way of the stream raises what is attributed: the logit of the label, or the embedding as it came out.
#pragma once

#include <optional>
#include <vector>

#include "addnorm/train/objective.h"
#include "probe/measures/measures.h"

namespace addnorm {

/// A head that is linear but for its bias: logits = matrix y, or matrix (before y) where the stream is narrowed first
/// (d_embedding, OPT-350m's project_out).
struct LinearHead {
  Tensor matrix;                   ///< [classes, width], tied or not
  std::optional<Tensor> before{};  ///< [width, d_model]
};
/// Nothing for an encoder without a head, and for heads with an activation or a norm.
std::optional<LinearHead> linear_head(Model& model);

/// Directions at the exit of the last stack. Sum over rows of <direction, c> is what a part c of the exit brings.
struct Directions {
  std::vector<double> values;  ///< [rows, width] of the exit; zero where nothing counts
  double count = 0;            ///< labels, or sequences: the sum over it is the mean
};
/// Of z_label - mean of z: head[label] - mean of the head's rows, at every label that counts; spread over the tokens that a
/// classifier pools.
class LabelDirections {
 public:
  explicit LabelDirections(LinearHead head);
  Directions of(const Batch& batch, const Shape& exit, std::optional<Pooling> pooling) const;

 private:
  /// head[label] - mean of the head's rows, as a direction of the stream.
  std::vector<double> of_label(std::size_t label) const;

  LinearHead head_;
  std::vector<double> mean_;  // of its matrix' rows
};
/// Of the share of the pooled embedding e: <e', e> / <e, e>, e' the pooled part; 1 for the whole.
Directions embedding_directions(const Tensor& exit, const std::vector<std::size_t>& lengths, Pooling pooling);

}  // namespace addnorm
