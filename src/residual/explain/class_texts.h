// What is told of arrangements that are more than a row, beside Arrangement::text.
#pragma once

#include <string>

#include "addnorm/residual/explain.h"

namespace addnorm {

struct ClassText {
  const char* name;
  const char* exit;         ///< what the stack gives; empty: as for a row
  const char* symbols;      ///< what is learned, and where it starts; may be empty
  const char* norm_note;    ///< behind the symbols where there are norms; may be empty
  std::size_t norms;        ///< of each unit
  std::size_t layer_norms;  ///< of each layer beside those
  const char* layer_mix;    ///< numbers of layer l beside norms: "l + 1"; may be empty
  const char* exit_mix;     ///< numbers of the exit; may be empty
};
/// Null if no class of the catalogue has this name; class_text refuses that.
const ClassText* find_class_text(const std::string& name);
const ClassText& class_text(const std::string& name);

/// With the choices of this row.
std::string exit_text(const ClassText& text, const Arrangement& row);
std::string symbols_text(const ClassText& text, const Arrangement& row, const NormKindOptions& norm);
std::size_t norms_per_unit(const ClassText& text, const Arrangement& row);

/// N(x), N_1(x), ... with the symbol of the chosen norm: "LN(x)", "LN_1(x)"; without any: "x".
std::string with_norm(const std::string& text, const NormKindOptions& norm);

/// The skip gain of a class; s as in branch_gain.
SkipGain class_skip_gain(const Arrangement& row, const StackShape& shape, NormalInit init);

}  // namespace addnorm
