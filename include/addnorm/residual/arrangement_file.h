// Your own arrangements: a row in a JSON file. docs/adding-an-arrangement.md walks through one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "addnorm/residual/arrangement.h"

namespace addnorm {

/// A row from JSON text: every field of Arrangement but those of classes, all optional but `name`. `where` begins messages
/// ("my.json"). A DataError names the field, its value and what is allowed; an unknown field is answered with the nearest known
/// one. `init.name` is what tables call the start; a name of init_rules() only with what that rule says.
Arrangement arrangement_from_json(std::string_view text, std::string_view where);
Arrangement read_arrangement(const std::filesystem::path& path);

/// The text that arrangement_from_json reads back to the same row; fields at their defaults are left out, and the name of an init
/// that is not that rule any more. A class has no row: UsageError.
std::string to_json(const Arrangement& row);

}  // namespace addnorm
