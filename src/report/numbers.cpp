#include "report/numbers.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace addnorm {
namespace {

constexpr std::uint32_t kNoNumber = 0x3FF00;  // a NaN, cut to 18 bits

std::uint32_t code_of(double value) {
  const auto narrow = static_cast<float>(value);
  if (!std::isfinite(narrow)) return kNoNumber;
  const std::uint32_t code = (std::bit_cast<std::uint32_t>(narrow) + 0x2000) >> 14;
  const bool is_infinite = (code & 0x1FE00) == 0x1FE00;  // the largest floats round up to it
  return is_infinite ? kNoNumber : code;
}

}  // namespace

Json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  std::array<char, 32> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, 6);
  double shorter = value;
  std::from_chars(digits.data(), written.ptr, shorter);
  return shorter;
}

Json rounded_copy(const Json& json) {
  if (json.is_number() && !json.is_integer()) return rounded(json.number());
  if (json.is_array()) {
    Json all = Json::array();
    for (const Json& item : json.array_items()) all.push_back(rounded_copy(item));
    return all;
  }
  if (!json.is_object()) return json;
  Json::Object fields;
  fields.reserve(json.size());
  for (const auto& [name, value] : json.items()) fields.push_back({name, rounded_copy(value)});
  return fields;
}

std::string packed(std::span<const double> values) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(values.size() * 3);
  for (const double value : values) {
    const std::uint32_t code = code_of(value);
    for (const int shift : {12, 6, 0}) text += kDigits[code >> shift & 63];
  }
  return text;
}

double number_in(const Json& object, std::string_view name) {
  const Json* found = object.find(name);
  return found && found->is_number() ? found->number() : std::numeric_limits<double>::quiet_NaN();
}

std::string text_in(const Json& object, std::string_view name) {
  const Json* found = object.find(name);
  return found && found->is_string() ? found->text() : "";
}

std::optional<std::uint64_t> whole_in(const Json& object, std::string_view name) {
  const Json* found = object.find(name);
  return found && found->is_unsigned() ? std::optional(found->whole()) : std::nullopt;
}

const Json::Array& items_in(const Json& object, std::string_view name) {
  static const Json::Array none;
  const Json* found = object.find(name);
  return found && found->is_array() ? found->array_items() : none;
}

}  // namespace addnorm
