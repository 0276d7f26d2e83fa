// Where the norms of a model's weights belong: what the weights say, whatever their config says.
#pragma once

#include <string>
#include <vector>

#include "addnorm/model/model.h"

namespace addnorm {

/// The same weights, run under one placement of their norms.
struct PlacementTrial {
  std::string arrangement;  ///< "pre-ln", "post-ln", "norm-skip", "res-post"
  bool final_norm = false;  ///< whether the stack ends in one
  bool configured = false;  ///< it is what the config says
  double loss = 0;          ///< nats per token of the sample, or the disorder of an encoder without head; NaN: not finite
};

struct PlacementFinding {
  std::string configured;                ///< what the config says, by name
  std::string behaves_as;                ///< what the weights say; empty: cannot tell
  bool agrees = true;                    ///< no contradiction was found
  std::vector<PlacementTrial> trials{};  ///< best first; empty: nothing to try them on
  std::vector<std::string> evidence{};   ///< a sentence each
  std::vector<std::string> warnings{};   ///< config and weights disagree; the final norm is missing
};

/// Which arrangement the weights behave as, from the weights alone: which norms are there, their gains, and how well the same
/// weights do on `sample` under every placement with the same parameters. The sample is text the model should know (any few
/// hundred tokens of its language); empty: only what the norms tell. Costs one forward pass of the sample per trial.
PlacementFinding detect_placement(Model& model, const Tokens& sample = {});

}  // namespace addnorm
