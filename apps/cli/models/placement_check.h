// Whether the weights of a checkpoint are arranged as its config says, tested on text that is read anyway.
#pragma once

#include <functional>

#include "addnorm/data/dataset.h"
#include "addnorm/model/placement.h"
#include "cli/models/run_model.h"

namespace addnorm::cli {

struct Placement {
  PlacementFinding found;
  std::size_t tokens = 0;  ///< that placements were tried on
};

/// detect_placement on the beginning of a batch in which nothing is masked, at most 512 tokens of it: some eight passes over
/// these. An encoder without a head gets all of it: its passes are cheap, and halves of texts are looked for among all.
Placement placement_on(const RunModel& run, const Batch& batch, const std::function<bool()>& go_on);
/// The same on the beginning of the data. For language models and encoders with a head, whose masked tokens are put back.
Placement placement_on(const RunModel& run, const Dataset& data, const std::function<bool()>& go_on);

/// One line; "": config and weights do not contradict each other.
std::string warning_of(const PlacementFinding& found);

}  // namespace addnorm::cli
