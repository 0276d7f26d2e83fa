// Drift of what the units read: what texts call internal covariate shift.
#pragma once

#include <cstdint>

#include "addnorm/probe/record.h"
#include "addnorm/residual/stream.h"
#include "probe/measures/token_measures.h"

namespace addnorm {

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

}  // namespace addnorm
