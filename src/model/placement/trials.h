// The same weights under other placements of their norms, measured.
#pragma once

#include "model/placement/loss.h"

namespace addnorm::placing {

/// "pre-ln", "post-ln", "norm-skip" or "res-post" where a row has exactly that unit, whatever its name; else its name.
std::string unit_name(const Arrangement& row, const StackShape& shape);
/// Whether each unit has one norm, outside of its branch: only then the same weights fit other placements.
bool has_one_norm_per_unit(const Residual& residual);

/// What the weights are measured by.
struct Yardstick {
  std::string measure;  ///< empty: there is nothing to measure them on
  double guessing = 0;  ///< what it is for an untrained model
};
Yardstick yardstick(const Model& model, const PlacementSample& sample);

/// One of them with what each prediction cost.
struct TriedPlacement {
  PlacementTrial trial;
  Surprises surprises;
};
/// Every placement of the model's norms, best first; nothing where `go_on`, asked before each, says no.
std::optional<std::vector<TriedPlacement>> run_trials(Model& model, const PlacementSample& sample,
                                                      const std::function<bool()>& go_on);

}  // namespace addnorm::placing
