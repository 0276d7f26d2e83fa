// What the config of a checkpoint says of its norms, held to the weights, in words.
#pragma once

#include <string>

#include "addnorm/model/placement.h"
#include "addnorm/probe/xray.h"

namespace addnorm::cli {

struct Placement {
  PlacementFinding found;
  std::size_t tokens = 0;  ///< that placements were tried on
};

/// One note where config and weights agree, or nothing is known; else warnings, which are notes, too, and say what their figures
/// are of. `source`: where the tokens come from.
void tell_placement(const ModelConfig& config, const Placement& placement, const std::string& source, XrayResult& result);

}  // namespace addnorm::cli
