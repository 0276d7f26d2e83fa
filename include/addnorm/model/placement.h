// Where the norms of a model's weights belong: what the weights say, whatever their config says.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/model/model.h"

namespace addnorm {

/// What the placements are tried on: text that the model should know, some hundred tokens of it. Rows are texts; of an encoder
/// without head at least four are needed.
struct PlacementSample {
  Tokens tokens{};
  Tokens target{};                     ///< seq2seq: what `tokens` become
  std::optional<std::int32_t> mask{};  ///< encoders: the token that hides others; none: others stand in their places
};

/// The same weights under one placement of their norms.
struct PlacementTrial {
  std::string arrangement;  ///< "pre-ln", "post-ln", "norm-skip", "res-post", or the config's own
  /// How the stack ends: `plain` is a final norm without weights of its own, where the model has none.
  enum class End : unsigned char { bare, normed, plain } end = End::bare;
  bool configured = false;  ///< it is what the config says
  /// In nats, of what PlacementFinding::measure says, no token counted for more than guessing costs; infinite: not finite.
  double loss = 0;
  double by_chance = 0;  ///< the same with what is to be predicted exchanged among the places: what knowing nothing costs
};
std::string name_of(const PlacementTrial& trial);  ///< "pre-ln", "pre-ln without its final norm"

struct PlacementFinding {
  enum class Ground : unsigned char {
    none,    ///< undecided
    norms,   ///< by which norms there are: trials do not distinguish them, or there was nothing to try
    trials,  ///< by what the weights do
  };
  std::string configured{};  ///< the arrangement that the config says
  std::string behaves_as{};  ///< the one that the weights have; empty: undecided
  Ground ground = Ground::none;
  bool agrees = true;                    ///< config and weights do not contradict each other
  bool final_norm_missing = false;       ///< a stack that needs one ends without
  bool stopped = false;                  ///< by go_on: nothing was decided
  std::string measure{};                 ///< of the trials: "nats per token of the sample"
  std::vector<PlacementTrial> trials{};  ///< best first
  std::vector<std::string> evidence{};   ///< a sentence each
  std::vector<std::string> warnings{};   ///< what does not agree, and what to do
};

const char* name_of(PlacementFinding::Ground ground);  ///< "none", "norms", "trials"

/// Which arrangement the weights behave as, from the weights alone: which norms are there, their gains, and how well the same
/// weights do on the sample under every placement of these norms (x + F(N(x)), N(x + F(x)), N(x) + F(N(x)), x + N(F(x)); with and
/// without a norm at the end). A language model is measured by the loss of its next token, an encoder by that of hidden ones, one
/// without head by how well the first halves of texts find their second halves, an encoder-decoder by the target. No token counts
/// for more than guessing it would cost.
///
/// Decided by trials where one placement knows something (its loss is below what it has by chance) and is better than all others,
/// both by a tenth of a nat and by three standard errors; trials with untrained weights are inconclusive, and only the
/// norms count. Without a sample, or for arrangements with other than one norm per unit, nothing is tried. Costs a forward pass
/// of the sample per trial (eight of them) and the memory of a few norms; the model is as before when it returns. `go_on`, where
/// there is one, is asked before each trial; false: stop.
PlacementFinding detect_placement(Model& model, const PlacementSample& sample = {}, const std::function<bool()>& go_on = {});
inline PlacementFinding detect_placement(Model& model, const Tokens& sample) {
  return detect_placement(model, PlacementSample{.tokens = sample});
}

}  // namespace addnorm
