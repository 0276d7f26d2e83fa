// Other ways to start for a run that does not train: one factor of the initialisation at a time.
#pragma once

#include <string>
#include <vector>

#include "addnorm/model/config.h"

namespace addnorm {

struct OtherStart {
  std::string option;  ///< "branch_scale 0.204"
  std::string change;  ///< what that is: "start W_o and W_2 at 1/sqrt(2L): branches begin weak"
  InitOptions init{};  ///< with that change; what is printed is what is tried
};

/// The smallest change first; none where there is no skip, beside which a branch could be weak. `model` is completed.
///
///   W_o and W_2 at 1/sqrt(2L)      where they are not as weak already: no rule or formula scales them, and no branch_scale is
///                                  as small; and where no norm follows the branch
///   W_o and W_2 without the scale  where a rule or the formula makes them weak, and a branch_scale above 1 is asked for
///   the rule gpt2                  where weights have another base, under the condition of the first
///   token vectors as the weights   where these are small normal ones (gpt2, bert), token vectors are larger, and the head is
///                                  tied to them: logits begin small
///   token vectors of N(0, 0.5^2)   where weights are small normal ones: a step of Adam is then a smaller part of a token vector
std::vector<OtherStart> other_starts(const ModelConfig& model, const FieldWords& words = nullptr);

}  // namespace addnorm
