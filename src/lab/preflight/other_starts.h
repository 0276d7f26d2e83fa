// Other ways to start for a run that does not train: one factor of the initialisation at a time.
#pragma once

#include <string>
#include <vector>

#include "addnorm/model/config.h"

namespace addnorm {

struct OtherStart {
  std::string option;  ///< "--branch-scale 0.204"
  std::string change;  ///< what that is: "start W_o and W_2 at 1/sqrt(2L): branches begin weak"
  InitOptions init{};  ///< with that change; what is printed is what is tried
};

/// The smallest change first; none where there is no skip, beside which a branch could be weak. `model` is completed.
///
///   W_o and W_2 at 1/sqrt(2L)      where nothing scales them by depth, no norm follows the branch, and they are not part of the
///                                  arrangement's formula
///   the rule gpt2                  where weights have another base, under the same condition
///   token vectors as the weights   where these are small normal ones (gpt2, bert), token vectors are larger, and the head is
///                                  tied to them: logits begin small
///   token vectors of N(0, 0.5^2)   where weights are small normal ones: a step of Adam is then a smaller part of a token vector
std::vector<OtherStart> other_starts(const ModelConfig& model);

}  // namespace addnorm
