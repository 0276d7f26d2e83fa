// How a model hands its batch to the pass and to the stack.
#pragma once

#include "addnorm/model/stack.h"
#include "addnorm/model/tokens.h"

namespace addnorm {

/// The pass as this batch has it: where its rows begin, and what is padding where a norm wants to know it.
inline Pass of_batch(const Pass& pass, const Tokens& tokens, const Stack& stack) {
  Pass own = pass;
  own.first_row = pass.first_sequence * tokens.tokens();
  if (stack.residual().options().norm.formula == NormFormula::batch) own.padding = padding_of(tokens);
  return own;
}

}  // namespace addnorm
