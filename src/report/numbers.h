// Numbers as a page needs them: few digits, or packed.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/json/json.h"

namespace addnorm {

/// With six significant digits, as %.6g prints them: what is drawn needs no more. Null where it is not finite.
Json rounded(double value);

/// A copy whose numbers are rounded; whole ones stay.
Json rounded_copy(const Json& json);

/// Three base64 digits per number, the most significant first: the top 18 bits of the float32, rounded, an error below 0.1 %.
/// What is not finite, or too large for a float32, is "/8A".
std::string packed(std::span<const double> values);

/// The number a field holds; NaN where there is none.
double number_in(const Json& object, std::string_view name);
/// The text a field holds; "" where there is none.
std::string text_in(const Json& object, std::string_view name);
/// A whole number that a field holds, nothing where there is none or it is negative.
std::optional<std::uint64_t> whole_in(const Json& object, std::string_view name);
/// The items of an array that a field holds; none where it is something else.
const Json::Array& items_in(const Json& object, std::string_view name);

}  // namespace addnorm
