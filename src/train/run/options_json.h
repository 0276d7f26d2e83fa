// Options as a Json value, for use inside the program. As text they are in files: run_options.h.
#pragma once

#include <string_view>
#include <vector>

#include "addnorm/train/run_folder.h"
#include "addnorm/train/run_options.h"
#include "core/json/json.h"

namespace addnorm {

/// run_options_from_json() of a value.
GivenOptions run_options_of(const Json& given, std::string_view where, const FieldWords& words = nullptr);
/// to_json(RunOptions) as a value.
Json json_of(const RunOptions& options);
/// options_to_repeat() of a value.
Json repeated_options(Json options, std::string_view where, const FieldWords& words = nullptr);
/// differences() of two objects.
std::vector<FieldDifference> differing_fields(const Json& before, const Json& now);

}  // namespace addnorm
