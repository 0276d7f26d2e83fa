// The same weights under other placements of their norms, measured by how well a model does on a sample, in nats: which
// distinguishes a right placement from a wrong one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "addnorm/model/placement.h"

namespace addnorm::placing {

/// What each prediction costs, in nats.
struct Surprises {
  std::vector<double> own;        ///< of what comes
  std::vector<double> exchanged;  ///< of what comes elsewhere in the sample: an untrained model finds both equally likely

  bool finite() const;
};
/// Of the kinds that yardstick() knows.
Surprises surprises_on(const Model& model, const PlacementSample& sample);

/// The mean of a - b, and how sure it is: its distance from 0 in standard errors.
struct LossDifference {
  double mean = 0, errors = 0;
};
LossDifference difference(std::span<const double> a, std::span<const double> b);

/// Texts that are long enough to be cut into halves.
std::size_t rows_with_halves(const Tokens& tokens);

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
