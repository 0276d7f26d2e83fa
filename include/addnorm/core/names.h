// Names that users type: compared without case, dashes, underscores and spaces, and answered with the nearest known one.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace addnorm {

/// "PreLN", "pre-ln", "pre_ln" and "Pre LN" become "preln".
std::string folded(std::string_view name);

/// The known name with the fewest edits from `name` (both folded; the first of equals), or "" when none shares enough with
/// it to be what was meant: an edit to every third letter is the most, one in short names. An edit is a letter more, less or
/// another, or two neighbours that changed places.
std::string nearest_name(std::string_view name, std::span<const std::string> known);

/// "unknown arrangement 'preln2'; did you mean pre-ln? known: post-ln, pre-ln". `what` says what kind of name it is.
/// Names may come from files: what is not printable is escaped as in errors, line breaks included.
std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string> known);

/// What messages call a field of a struct: "d_model" -> "--d-model". Empty: the field's own name.
using FieldWords = std::function<std::string(std::string field)>;
std::string called(const FieldWords& words, std::string field);
/// The same for every {field} of a text: "fewer {layers}" -> "fewer --layers". Of our own texts, not of what came from outside.
std::string with_fields_called(std::string_view text, const FieldWords& words);

/// "post-ln, pre-ln"; escaped in the same way, so it fits on one line.
std::string listed(std::span<const std::string> names);

}  // namespace addnorm
