#include "core/json/parser.h"

#include <algorithm>
#include <charconv>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

/// Of a number that a double cannot hold: too large, or too near 0? By the place of its first digit, whatever its exponent.
bool is_large(std::string_view number) {
  const std::size_t first = number.find_first_of("123456789"), e = std::min(number.find_first_of("eE"), number.size());
  const std::size_t point = std::min(number.find('.'), e);
  auto places = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  if (e == number.size()) return places > 0;
  const bool negative = number[e + 1] == '-';
  std::int64_t exponent = 0;
  for (const char c : number.substr(e + 1))
    if (c >= '0' && c <= '9') exponent = std::min<std::int64_t>(exponent * 10 + (c - '0'), std::int64_t{1} << 50);
  return places + (negative ? -exponent : exponent) > 0;
}

}  // namespace

void JsonParser::fail(const std::string& what) const {
  const std::string_view before = text().substr(0, at());
  const std::size_t line_begin = before.rfind('\n') + 1;  // 0 where there is none
  throw DataError(concat(where_, ": not JSON: line ", std::ranges::count(before, '\n') + 1, ", column ", at() - line_begin + 1,
                         ": ", what, ended() ? "; the text ends" : ""));
}

void JsonParser::fail_twice(std::string_view name) const {
  throw DataError(concat(where_, ": field ", Json(name).dump(), " is given twice"));
}

void JsonParser::enter() {
  if (++depth_ > deepest_) throw DataError(concat(where_, ": nested deeper than ", deepest_, " levels; no file that we know is"));
}

Json JsonParser::value() {
  if (took("null")) return nullptr;
  if (took("true")) return true;
  if (took("false")) return false;
  if (peek() == '"') return string(decoded_);
  if (at_number()) return number_of(number());
  if (peek() == '[') return array();
  if (peek() == '{') return object([&](std::string_view) { return value(); });
  fail("a value is expected");
}

Json JsonParser::array() {
  Json all = Json::array();
  enter();
  items([&] { all.push_back(value()); });
  --depth_;
  return all;
}

void JsonParser::refuse_twice(const Json::Object& fields) const {
  std::vector<std::string_view> names;
  for (const JsonField& field : fields) names.push_back(field.key);
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) fail_twice(*twice);
}

Json JsonParser::number_of(const JsonNumber& number) {
  const std::string_view digits = number.text;
  const char* const end = digits.data() + digits.size();
  std::int64_t negative = 0;
  std::uint64_t positive = 0;
  if (number.whole && digits[0] == '-' && std::from_chars(digits.data(), end, negative).ec == std::errc()) return negative;
  if (number.whole && digits[0] != '-' && std::from_chars(digits.data(), end, positive).ec == std::errc()) return positive;
  double real = 0;
  if (std::from_chars(digits.data(), end, real).ec == std::errc()) return real;
  if (!is_large(digits)) return digits[0] == '-' ? -0.0 : 0.0;
  go(at() - digits.size());
  fail(concat("the number ", digits.substr(0, 40), digits.size() > 40 ? "..." : "", " is too large"));
}

namespace {

class WholeText final : JsonParser {
 public:
  WholeText(std::string_view text, std::string_view where) : JsonParser(text, where) {}
  Json read() {
    return document([&] { return value(); });
  }
};

}  // namespace

Json parsed(std::string_view text, std::string_view where) { return WholeText(text, where).read(); }

Json parsed_or_null(std::string_view text) {
  try {
    return parsed(text, "");
  } catch (const DataError&) {
    return {};
  }
}

}  // namespace addnorm
