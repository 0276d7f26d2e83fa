// The full set: what takes extra passes, besides the step's. All without dropout, with batch norms by their running
// statistics, on the first part of the step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "addnorm/probe/record.h"
#include "addnorm/residual/stream.h"
#include "addnorm/train/objective.h"
#include "probe/measures/token_measures.h"

namespace addnorm {

/// Drift of what the units read, which texts call internal covariate shift.
///
/// Mean m and deviation s of every feature of what each sub-layer reads (after N_in), over the tokens of one batch that stays
/// the same for the whole run: only the weights make a difference.
class DriftProbe final : public StreamObserver {
 public:
  void begin(std::int64_t step, std::vector<std::size_t> lengths);  ///< a pass over that batch
  void on_branch(const Unit&, const Var&) override {}
  void on_stream(const Unit*, const Var&) override {}
  void on_read(const Unit& unit, const Var& u) override;
  /// Since the last record, per step:  ||m - m'|| / ||s'|| / steps  and  ||s - s'|| / ||s'|| / steps, norms over features.
  /// Nothing at the first one, and nothing after a way back.
  void write_to(StackRecord& record);

 private:
  std::int64_t step_ = 0, step_before_ = 0;
  std::vector<std::size_t> lengths_;
  std::vector<FeatureMoments> now_, before_;  // by unit
};

struct Whole {
  Tensor logits;  ///< of the model as it is
  double loss = 0;
};

/// What the loss would be without one unit, and if the stack ended after it (logit lens: the boosting view).
///
/// One pass for every unit with its branch at 0, and one that ends after it with the stack's usual exit: 1.5 forward passes per
/// unit. Fills record.bypass_change, lens_loss and lens_kl, for the stack of this name in the model ("stack", "encoder", ...).
void run_cut(const Model& model, const Batch& batch, const Whole& whole, const std::string& stack, std::size_t units,
             StackRecord& record);

/// Mean over the labels that count of KL(softmax(p) || softmax(q)), in nats.
double mean_divergence(const Tensor& p, const Tensor& q, const Batch& batch);

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
