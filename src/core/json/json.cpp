#include "core/json/json.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <locale>
#include <sstream>
#include <utility>

#include "addnorm/core/error.h"
#include "core/utf8.h"

namespace addnorm {

Json::Json() noexcept = default;
Json::Json(std::nullptr_t) noexcept {}
Json::Json(As, bool value) : value_(value) {}
Json::Json(As, std::int64_t value) {
  if (value < 0)
    value_ = value;
  else
    value_ = static_cast<std::uint64_t>(value);  // one form for each number
}
Json::Json(As, std::uint64_t value) : value_(value) {}
Json::Json(As, double value) : value_(value) {}
Json::Json(As, Array items) : value_(std::move(items)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(Object fields) : value_(std::move(fields)) {}
Json::Json(std::initializer_list<JsonField> fields) : value_(Object(fields)) {}
Json Json::array(std::initializer_list<Json> items) {
  Json all;
  all.value_ = Array(items);
  return all;
}
Json Json::object() { return Object(); }
/// Not the variant's own copy: in libstdc++ 12 one that throws destroys an alternative that was never made, and crashes.
Json::Json(const Json& other) {
  std::visit([this](auto copy) { value_ = std::move(copy); }, other.value_);
}
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(Json other) noexcept {  // a copy: `other` may be a part of this
  value_ = std::move(other.value_);
  return *this;
}
Json::~Json() = default;

const char* Json::type_name() const {
  static constexpr std::array kNames{"null", "boolean", "number", "number", "number", "string", "array", "object"};
  return kNames[value_.index()];
}

namespace {

template <class T, class Value>
auto& expected(Value& value, const char* wanted, const char* found) {
  auto* is = std::get_if<T>(&value);
  require(is != nullptr, "Json: ", wanted, " is expected, this is ", found);
  return *is;
}

}  // namespace

bool Json::boolean() const { return expected<bool>(value_, "true or false", type_name()); }
std::uint64_t Json::whole() const { return expected<std::uint64_t>(value_, "a whole number from 0 on", type_name()); }
std::int64_t Json::integer() const {
  if (const auto* negative = std::get_if<std::int64_t>(&value_)) return *negative;
  require(whole() <= INT64_MAX, "Json: ", whole(), " is too large for 63 bits");
  return static_cast<std::int64_t>(whole());
}
const std::string& Json::text() const { return expected<std::string>(value_, "a string", type_name()); }
const Json::Array& Json::array_items() const { return expected<Array>(value_, "an array", type_name()); }
const Json::Object& Json::items() const { return expected<Object>(value_, "an object", type_name()); }
double Json::number() const {
  if (is_unsigned()) return static_cast<double>(whole());
  if (const auto* negative = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*negative);
  return expected<double>(value_, "a number", type_name());
}

std::size_t Json::size() const { return is_array() ? array_items().size() : is_object() ? items().size() : 0; }

void Json::push_back(Json item) {
  if (is_null()) value_ = Array();
  expected<Array>(value_, "an array", type_name()).push_back(std::move(item));
}

const Json* Json::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  const auto found = std::ranges::find(items(), name, &JsonField::key);
  return found == items().end() ? nullptr : &found->value;
}

const Json& Json::at(std::string_view name) const {
  const Json* found = find(name);
  require(found != nullptr, "Json: there is no field '", name, "'");
  return *found;
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) value_ = Object();
  auto& fields = expected<Object>(value_, "an object", type_name());
  const auto found = std::ranges::find(fields, name, &JsonField::key);
  return found == fields.end() ? fields.emplace_back(JsonField{std::string(name), {}}).value : found->value;
}

void Json::erase(std::string_view name) {
  if (auto* fields = std::get_if<Object>(&value_))
    std::erase_if(*fields, [&](const JsonField& field) { return field.key == name; });
}

bool operator==(const Json& a, const Json& b) {
  const bool exact = a.value_.index() == b.value_.index() || !a.is_number() || !b.is_number();
  return exact ? a.value_ == b.value_ : a.number() == b.number();
}

// Writing.

namespace {

/// Of bytes that are no character: those that could have begun one count as one flaw.
std::size_t flaw_length(std::string_view text) {
  for (std::size_t length = 3; length > 1; --length)
    if (length <= text.size() && utf8_complete(text.substr(0, length)) == 0) return length;
  return 1;
}

void append_string(std::string& out, std::string_view text) {
  static constexpr std::string_view kShort = "\"\"\\\\\bb\ff\nn\rr\tt";  // a character and its letter
  out += '"';
  while (!text.empty()) {
    const auto [code, length] = utf8_front(text);
    const std::size_t taken = length == 0 ? flaw_length(text) : length;
    const char c = text.front();
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (const bool special = code < 0x20 || c == '"' || c == '\\'; !special) {
      out += text.substr(0, taken);
    } else {
      std::size_t i = 0;
      while (i < kShort.size() && kShort[i] != c) i += 2;
      if (i < kShort.size())
        out.append("\\").append(1, kShort[i + 1]);
      else
        out.append("\\u00").append(1, "01"[code >> 4]).append(1, "0123456789abcdef"[code & 15]);
    }
    text.remove_prefix(taken);
  }
  out += '"';
}

/// By its bits: where the processor takes denormal numbers for zero (flush_denormals), comparisons do too.
bool is_denormal(double value) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63, kLeastNormal = std::uint64_t{1} << 52;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value) & ~kSign;
  return bits != 0 && bits < kLeastNormal;
}

/// The same of a denormal number, for which std::to_chars writes 0 there.
std::string digits_of_denormal(double value) {
  constexpr int kMostDigits = 17;
  std::string text;
  for (int digits = 1; digits <= kMostDigits; ++digits) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out << std::scientific << std::setprecision(digits - 1) << value;
    text = std::move(out).str();
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    if (std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(value)) break;
  }
  return text;
}

/// The shortest digits that give the same number; with an exponent outside of [1e-4, 1e15), otherwise with a point.
void append_number(std::string& out, double value) {
  if (is_denormal(value)) {
    out += digits_of_denormal(value);
    return;
  }
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e15);
  std::array<char, 40> digits;
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const std::string_view text(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value, format).ptr);
  out += text;
  if (plain && text.find('.') == std::string_view::npos) out += ".0";
}

class Printer {
 public:
  explicit Printer(int indent) : indent_(indent) {}

  void print(const Json& json) {
    if (json.is_array()) {
      list('[', json.array_items(), ']', [&](const Json& item) { print(item); });
    } else if (json.is_object()) {
      list('{', json.items(), '}', [&](const JsonField& field) {
        append_string(text, field.key);
        text += indent_ < 0 ? ":" : ": ";
        print(field.value);
      });
    } else if (json.is_string()) {
      append_string(text, json.text());
    } else if (json.is_unsigned()) {
      text += std::to_string(json.whole());
    } else if (json.is_integer()) {
      text += std::to_string(json.integer());
    } else if (json.is_number()) {
      append_number(text, json.number());
    } else {
      text += json.is_null() ? "null" : json.boolean() ? "true" : "false";
    }
  }
  std::string text;

 private:
  template <class Items, class Print>
  void list(char open, const Items& items, char close, const Print& print_item) {
    text += open;
    ++level_;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text += ',';
      new_line();
      print_item(items[i]);
    }
    --level_;
    if (!items.empty()) new_line();
    text += close;
  }
  void new_line() {
    if (indent_ >= 0) text.append("\n").append(static_cast<std::size_t>(indent_ * level_), ' ');
  }
  int indent_, level_ = 0;
};

}  // namespace

std::string Json::dump(int indent) const {
  Printer printer(indent);
  printer.print(*this);
  return std::move(printer.text);
}

}  // namespace addnorm
