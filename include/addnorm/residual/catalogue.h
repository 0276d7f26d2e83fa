// The catalogue: every arrangement by name.
#pragma once

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

}  // namespace addnorm
