// How a model hands its batch to the pass and to the stack.
#pragma once

#include "addnorm/model/stack.h"
#include "addnorm/model/tokens.h"

namespace addnorm {

/// The pass with the batch's padding, where a norm wants to know it.
inline Pass with_padding(const Pass& pass, const Tokens& tokens, const ModelConfig& config) {
  if (tokens.lengths.empty() || norm_of(config).formula != NormFormula::batch) return pass;
  Pass own = pass;
  own.padding = padding_of(tokens);
  return own;
}

}  // namespace addnorm
