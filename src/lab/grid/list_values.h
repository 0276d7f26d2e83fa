// Values of options as a list has them: under our names, and each once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "addnorm/core/names.h"
#include "core/json/json.h"

namespace addnorm {

/// {"name": value} as options of a run: an arrangement or a rule for the start that is said by an alias stands under its own
/// name. Errors name the place, and call fields as `words` says.
Json value_in_our_words(const std::string& name, const Json& value, std::string_view place, const FieldWords& words);

/// The values of one option, under our names, without those that stand before; a note for each that is left out.
Json::Array without_repeats(const std::string& name, const Json::Array& values, std::string_view place, const FieldWords& words,
                            std::vector<std::string>& notes);

}  // namespace addnorm
