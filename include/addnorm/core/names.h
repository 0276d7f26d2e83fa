// Names that users type: compared without case, dashes, underscores and spaces, and answered with the nearest known one.
#pragma once

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

/// What a field is called in a message: "d_model" -> "--d-model".
using FieldWords = std::string (*)(std::string field);

/// "post-ln, pre-ln"; escaped in the same way, so it fits on one line.
std::string listed(std::span<const std::string> names);

}  // namespace addnorm
