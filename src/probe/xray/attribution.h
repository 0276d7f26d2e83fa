// Who makes the output: the label's logit, or the embedding, shared out among embedding, units and biases.
#pragma once

#include <optional>

#include "addnorm/probe/xray.h"
#include "probe/measures/components.h"
#include "probe/xray/cost.h"
#include "probe/xray/kept_pass.h"
#include "probe/xray/label_directions.h"

namespace addnorm {

/// Over any number of batches: begin() with what the pass gave, then see_lens() for every place of the last stack.
class XrayAttribution {
 public:
  XrayAttribution(Model& model, Pooling pooling, AttributionNorm asked);

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
  std::string why_not_;  // what was asked for cannot be had
  std::optional<LabelDirections> labels_;
  Directions directions_;             // of the embedding, or frozen
  RunningMean whole_, bias_;          // of the output as it is, of the head's bias
  std::vector<RunningMean> parts_;    // frozen, by component
  std::vector<RunningMean> by_lens_;  // by place
};

}  // namespace addnorm
