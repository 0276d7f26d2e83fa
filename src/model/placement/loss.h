// How well a model does on a sample, in nats: which distinguishes a right placement of its norms from a wrong one.
#pragma once

#include <span>
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

}  // namespace addnorm::placing
