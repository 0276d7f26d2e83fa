// What is told of arrangements that are more than a row, beside Arrangement::text.
#pragma once

#include <string>

#include "addnorm/residual/explain.h"

namespace addnorm {

struct ClassText {
  const char* name;
  const char* exit;     ///< what the stack gives; empty: as for a row
  const char* symbols;  ///< what is learned, and where it starts; may be empty
  const char* shared;   ///< parameters beside those of units: "2d per layer"; may be empty
  std::size_t norms;    ///< of each unit
};
/// Null if no class of the catalogue has this name; class_text refuses that.
const ClassText* find_class_text(const std::string& name);
const ClassText& class_text(const std::string& name);
/// N(x), N_1(x), ... with the symbol of the chosen norm: "LN(x)", "LN_1(x)"; without any: "x".
std::string with_norm(const std::string& text, const NormKindOptions& norm);

/// The skip gain of a class; s as in branch_gain.
SkipGain class_skip_gain(const Arrangement& row, const StackShape& shape, NormalInit init);

}  // namespace addnorm
