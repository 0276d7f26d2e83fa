// Process strings: how Tensor2Tensor, Sockeye and Marian write where add and norm stand.
#pragma once

#include <string>
#include <string_view>

#include "addnorm/residual/arrangement.h"

namespace addnorm {

/// What is done to the input of a sub-layer, to its output, and to the output of the stack, one letter each:
///
///   d  dropout (it changes no arrangement)      a  add the input of the unit      n  layer norm
///   r  RMS norm where `a` or another string says so (Marian); else it adds (Sockeye)       h  highway gate
///
/// "n", "da", "n" is pre-ln; "", "dan", "" is post-ln.
struct ProcessStrings {
  std::string pre, post, top;
};

struct Processed {
  const Arrangement* arrangement;
  std::string norm;  ///< "layernorm" or "rmsnorm"
};
/// A UsageError names the letter or the combination that is no arrangement of the catalogue, and those that are.
Processed arrangement_of(const ProcessStrings& strings);

}  // namespace addnorm
