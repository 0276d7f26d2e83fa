#include "addnorm/model/placement.h"

namespace addnorm {

PlacementFinding detect_placement(Model& model, const Tokens&) {
  PlacementFinding found;
  found.configured = model.config().arrangement;
  return found;
}

}  // namespace addnorm
