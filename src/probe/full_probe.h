// The full set: what takes passes of its own, besides the step's. All without dropout, with batch norms by their running
// statistics, on the first part of the step.
#pragma once

#include <map>

#include "addnorm/probe/record.h"
#include "addnorm/train/objective.h"
#include "probe/drift.h"

namespace addnorm {

/// At most so many sequences go through the passes of which there is one per unit, and into the components of the stream.
inline constexpr std::size_t kMostCutSequences = 8;

/// Changes neither parameters nor gradients, running statistics, optimizer or random state.
class FullProbe {
 public:
  void begin(std::int64_t step, const Batch& part);  ///< keeps a copy
  /// All gradients are there; record.stacks has the default set.
  void before_update(Model& model, ProbeRecord& record);
  /// The weights have moved; record.roles is there.
  void after_update(const Model& model, ProbeRecord& record);

 private:
  void measure_places(const Model& model, ProbeRecord& record);
  void measure_drift(const Model& model, ProbeRecord& record);
  void measure_components(Model& model, const Batch& some, ProbeRecord& record);

  std::int64_t step_ = 0;
  Batch batch_;
  Batch fixed_;  // the first one of the run that was probed: what drift is measured on
  DriftProbe drift_, drift_of_decoder_;
  Tensor logits_;  // before the update
  std::map<std::string, double> snr_;
};

}  // namespace addnorm
