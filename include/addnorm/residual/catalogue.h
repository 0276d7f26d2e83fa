// The catalogue: every arrangement by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/residual/arrangement.h"

namespace addnorm {

std::span<const Arrangement> arrangements();
std::vector<std::string> arrangement_names();
/// By name or alias; case, dash, underscore and spaces do not matter. An unknown one is a UsageError with the nearest and the
/// list.
const Arrangement& arrangement_named(std::string_view name);

}  // namespace addnorm
