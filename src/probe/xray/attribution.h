// Who makes the output: the label's logit, or the embedding, shared out among embedding, units and biases.
#pragma once

#include <optional>
#include <vector>

#include "addnorm/probe/xray.h"
#include "addnorm/train/objective.h"
#include "probe/measures/components.h"
#include "probe/measures/measures.h"
#include "probe/xray/kept_pass.h"

namespace addnorm {

/// A head that is linear but for its bias: logits = matrix y, or matrix (before y) where the stream is narrowed first
/// (d_embedding, OPT-350m's project_out).
struct LinearHead {
  Tensor matrix;                   ///< [classes, width], tied or not
  std::optional<Tensor> before{};  ///< [width, d_model]
};
/// Nothing for an encoder without a head, and for heads with an activation or a norm.
std::optional<LinearHead> linear_head(Model& model);

/// Which way of the stream raises what is attributed, at the exit of the last stack. Sum over rows of <direction, c> is what a
/// part c of the exit brings.
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

/// Over any number of batches: begin() with what the pass gave, then see_lens() for every place of the last stack.
class XrayAttribution {
 public:
  XrayAttribution(Model& model, Pooling pooling, const XrayOptions& options);

  /// `components` of the last stack, not yet through its exit.
  void begin(const Batch& batch, const XrayOutput& output, std::optional<Components>& components);
  /// What would come out if the stack ended after its first `units` units.
  void see_lens(std::size_t units, const XrayOutput& output);
  /// ln, attributed, and the attribution of the last stack; what is missing and why.
  void write_to(XrayResult& result) const;

 private:
  RunningMean brought_by(const XrayOutput& output) const;

  Model& model_;
  Pooling pooling_;  // of an encoder without a head
  AttributionNorm asked_, ln_;
  FieldWords words_;
  std::string why_not_;  // what was asked for cannot be had
  std::optional<LabelDirections> labels_;
  Directions directions_;             // of the embedding, or frozen
  RunningMean whole_, bias_;          // of the output as it is, of the head's bias
  std::vector<RunningMean> parts_;    // frozen, by component
  std::vector<RunningMean> by_lens_;  // by place
};

}  // namespace addnorm
