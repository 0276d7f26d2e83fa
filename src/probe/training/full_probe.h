// The full set: what takes extra passes, besides the step's. All without dropout, with batch norms by their running
// statistics, on the first part of the step.
#pragma once

#include <map>

#include "addnorm/probe/record.h"
#include "addnorm/train/objective.h"
#include "probe/training/drift.h"

namespace addnorm {

/// The passes of which there is one per unit, and the components of the stream, are of the first sequences of a batch: 8, or
/// fewer in deep models, so that units times sequences are at most 192; at least 2.
inline constexpr std::size_t kMostCutSequences = 8, kLeastCutSequences = 2, kMostCuts = 192;
std::size_t cut_sequences(std::size_t sequences, std::size_t units);

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
