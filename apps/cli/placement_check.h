// Whether the weights of a checkpoint are arranged as its config says, told by text that is at hand anyway.
#pragma once

#include <functional>

#include "addnorm/data/dataset.h"
#include "addnorm/model/placement.h"
#include "run_model.h"

namespace addnorm::cli {

/// detect_placement on the beginning of the data, at most 512 tokens of it: some eight passes over these. For language models
/// and encoders with a head; tokens that are masked in the data are put back.
PlacementFinding placement_on(const RunModel& run, const Dataset& data, const std::function<bool()>& go_on);

/// One line; "": config and weights do not contradict each other.
std::string warning_of(const PlacementFinding& found);

}  // namespace addnorm::cli
