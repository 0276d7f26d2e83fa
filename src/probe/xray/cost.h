// What a changed output of the stack costs: nats per label, or a distance of the embedding.
#pragma once

#include "addnorm/probe/xray.h"
#include "probe/measures/measures.h"
#include "probe/xray/kept_pass.h"

namespace addnorm {

/// What comes out of the last stack, and what the head makes of it.
struct XrayOutput {
  Var y;
  Tensor logits{};                     ///< [rows, classes]; undefined where there is no head
  std::vector<std::int32_t> labels{};  ///< of these rows
};

class XrayCost {
 public:
  XrayCost(Model& model, Pooling pooling);

  XrayMeasure measure() const { return measure_; }
  /// One head product. Where most rows have no label (masked tokens) the head reads only the others.
  XrayOutput read(const Batch& batch, const Var& y) const;
  /// Of `now`, where it should be `as_is` (read only for embeddings). The sum is over labels, or sequences.
  RunningMean of(const Batch& batch, const XrayOutput& as_is, const XrayOutput& now) const;

 private:
  const Model& model_;
  Pooling pooling_;
  XrayMeasure measure_;
};

}  // namespace addnorm
