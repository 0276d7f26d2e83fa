// A grid as Json values, for use inside the program: rows, lists of values, what is said where nothing is. As text it is in
// files: grid.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "addnorm/lab/grid.h"
#include "core/json/json.h"

namespace addnorm {

/// grid_from_json() of a value.
GridSpec grid_of(const Json& spec, std::string_view where, const FieldWords& words = nullptr);
/// default_lab() of a value.
GridSpec default_lab_of(const Json& base);
/// with_lab_defaults() of a value.
Json lab_options_of(Json options, std::string_view where);

/// {"name": value} as options of a run: an arrangement or a rule for the start that is said by an alias stands under its own
/// name. Errors name the place, and call fields as `words` says.
Json value_in_our_words(const std::string& name, const Json& value, std::string_view place, const FieldWords& words);

/// The values of one option, under our names, without those that stand before; a note for each that is left out.
Json::Array without_repeats(const std::string& name, const Json::Array& values, std::string_view place, const FieldWords& words,
                            std::vector<std::string>& notes);

}  // namespace addnorm
