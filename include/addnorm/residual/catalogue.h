// The catalogue: every arrangement by name, and arrangements in other forms: a row in a JSON file (docs/adding-an-arrangement.md
// walks through one), process strings of other libraries.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/residual/arrangement.h"

namespace addnorm {

/// Those of the table, then the registered ones in their order. They stay where they are for the rest of the program.
std::vector<std::reference_wrapper<const Arrangement>> arrangements();
std::vector<std::string> arrangement_names();
/// By name or alias; case, dash, underscore and spaces do not matter. An unknown one is a UsageError with the nearest and the
/// list.
const Arrangement& arrangement_named(std::string_view name);

/// Adds your own arrangement, a row or a class (Arrangement::make with its text); from then on every function that takes
/// a name knows it. A UsageError if its name or an alias already names another one. May be called from any thread.
const Arrangement& register_arrangement(Arrangement arrangement);

/// A row from JSON text: every field of Arrangement but those of classes, all optional but `name`. `where` begins messages
/// ("my.json"). A DataError names the field, its value and what is allowed; an unknown field is answered with the nearest known
/// one. `init.name` is what tables call the start; a name of init_rules() only with what that rule says.
Arrangement arrangement_from_json(std::string_view text, std::string_view where);
Arrangement read_arrangement(const std::filesystem::path& path);

/// The text that arrangement_from_json reads back to the same row; fields at their defaults are left out, and the name of an init
/// that is not that rule any more. A class has no row: UsageError.
std::string to_json(const Arrangement& row);

/// How Tensor2Tensor, Sockeye and Marian write where add and norm stand: what is done to the input of a sub-layer, to its output,
/// and to the output of the stack, one letter each:
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
