// Which way of the stream raises what is attributed: the logit of the label, or the embedding as it came out.
#pragma once

#include <optional>
#include <vector>

#include "addnorm/train/objective.h"
#include "probe/measures.h"

namespace addnorm {

/// The matrix of a head that is one: [classes, width], tied or not. Nothing for an encoder without a head, and for heads that are
/// more than a matrix and a bias.
std::optional<Tensor> head_matrix(Model& model);

/// Directions at the exit of the last stack. Sum over rows of <direction, c> is what a part c of the exit brings.
struct Directions {
  std::vector<double> values;  ///< [rows, width] of the exit; zero where nothing counts
  double count = 0;            ///< labels, or sequences: the sum over it is the mean
};
/// Of z_label - mean of z: head[label] - mean of the head's rows, at every label that counts; spread over the tokens that a
/// classifier pools.
class LabelDirections {
 public:
  explicit LabelDirections(const Tensor& head);
  Directions of(const Batch& batch, const Shape& exit, std::optional<Pooling> pooling) const;

 private:
  Tensor head_;
  std::vector<double> mean_;  // of its rows
};
/// Of the share of the pooled embedding e: <e', e> / <e, e>, e' the pooled part; 1 for the whole.
Directions embedding_directions(const Tensor& exit, const std::vector<std::size_t>& lengths, Pooling pooling);

/// Sum of the products of two lists.
double dot(const std::vector<double>& a, const std::vector<double>& b);
double dot(const std::vector<double>& a, const Tensor& b);

}  // namespace addnorm
