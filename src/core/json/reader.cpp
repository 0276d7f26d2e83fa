#include "core/json/reader.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "addnorm/core/error.h"
#include "core/utf8.h"

namespace addnorm {

// The grammar.

void JsonText::digits() {
  if (!is_digit(peek())) fail("a digit is expected");
  while (is_digit(peek())) ++at_;
}

JsonNumber JsonText::number() {
  const std::size_t begin = at_;
  took('-');
  if (!took('0')) digits();
  const bool whole = peek() != '.' && peek() != 'e' && peek() != 'E';
  if (took('.')) digits();
  if (took('e') || took('E')) {
    if (!took('+')) took('-');
    digits();
  }
  return {text_.substr(begin, at_ - begin), whole};
}

/// Steps over letters that stand for themselves: most of every text, so at once.
void JsonText::plain_letters() {
  const auto is_plain = [](char c) { return c >= 0x20 && static_cast<unsigned char>(c) < 0x80 && c != '"' && c != '\\'; };
  const char* const end = text_.data() + text_.size();
  const char* next = text_.data() + at_;
  while (next != end && is_plain(*next)) ++next;
  at_ = static_cast<std::size_t>(next - text_.data());
}

std::string_view JsonText::string(std::string& decoded) {
  took('"');
  const std::size_t begin = at_;
  std::size_t kept = begin;  // what stands before it is in `decoded`
  while (true) {
    plain_letters();
    if (ended()) fail("a text is not closed by a quote");
    const std::string_view piece = text_.substr(kept, at_ - kept);
    if (took('"')) return kept == begin ? piece : decoded += piece;
    if (took('\\')) {
      if (kept == begin) decoded.clear();
      decoded += piece;
      escape(decoded);
      kept = at_;
      continue;
    }
    if (static_cast<unsigned char>(peek()) < 0x20)
      fail("a line break or another control character stands in a text; write it as \\n or \\u00XX");
    const unsigned length = utf8_front(text_.substr(at_)).length;
    if (length == 0) fail("the bytes are not UTF-8");
    at_ += length;
  }
}

void JsonText::escape(std::string& decoded) {
  static constexpr std::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
  if (!took('u')) {
    const std::size_t i = ended() ? std::string_view::npos : kLetters.find(peek());
    if (i == std::string_view::npos) fail("after \\ one of \" \\ / b f n r t u is expected");
    ++at_;
    decoded += kMeant[i];
    return;
  }
  char32_t code = four_digits();
  if (code >= 0xD800 && code < 0xDC00) {  // one character beyond 16 bits, as two
    const char32_t second = took('\\') && took('u') ? four_digits() : 0;
    if (second < 0xDC00 || second > 0xDFFF) fail("after \\uD800 ... \\uDBFF one of \\uDC00 ... \\uDFFF is expected");
    code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
  } else if (code >= 0xDC00 && code <= 0xDFFF) {
    fail("\\uDC00 ... \\uDFFF is only the second half of a character");
  }
  append_utf8(decoded, code);
}

char32_t JsonText::four_digits() {
  unsigned code = 0;
  const std::string_view digits = text_.substr(at_, 4);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (digits.size() < 4 || read.ptr != digits.data() + 4) fail("four digits 0-9, a-f are expected after \\u");
  at_ += 4;
  return code;
}

// Values.

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

// Skimming.

namespace {

/// What it meets and cannot judge ends it.
class Skimmer final : JsonText {
 public:
  explicit Skimmer(std::string_view text) : JsonText(text) {}

  bool all_fields(std::vector<SkimmedField>& fields) {
    return whole('{', [&] { object([&](const SkimmedField& field) { fields.push_back(field); }); });
  }
  bool all_items(std::vector<std::string_view>& all) {
    return whole('[', [&] { array([&](std::string_view item) { all.push_back(item); }); });
  }

 private:
  static constexpr std::size_t kMostFields = 32, kLongestNumber = 40;
  static constexpr int kDeepestSkimmed = 8;
  struct NotSkimmed {};

  [[noreturn]] void fail(const std::string&) const override { throw NotSkimmed(); }
  static void expect(bool usual) {
    if (!usual) throw NotSkimmed();
  }

  template <class Read>
  bool whole(char first, const Read& read) {
    spaces();
    if (peek() != first) return false;
    try {
      read();
      spaces();
      return ended();
    } catch (const NotSkimmed&) {
      return false;
    }
  }

  template <class Keep>
  void object(const Keep& keep) {
    expect(++depth_ <= kDeepestSkimmed);
    std::array<std::string_view, kMostFields> names;
    std::size_t count = 0;
    members(decoded_, [&](std::string_view name) {
      const auto known = names.begin() + static_cast<std::ptrdiff_t>(count);
      expect(!is_decoded(name) && count < kMostFields && std::find(names.begin(), known, name) == known);
      names[count++] = name;
      keep(SkimmedField{name, value()});
    });
    --depth_;
  }

  template <class Keep>
  void array(const Keep& keep) {
    expect(++depth_ <= kDeepestSkimmed);
    items([&] { keep(value()); });
    --depth_;
  }

  std::string_view value() {
    const std::size_t begin = at();
    const char first = peek();
    if (first == '{')
      object([](const SkimmedField&) {});
    else if (first == '[')
      array([](std::string_view) {});
    else if (first == '"')
      expect(!is_decoded(string(decoded_)));
    else if (at_number())
      expect(is_usual(number()));
    else
      expect(took("null") || took("true") || took("false"));
    return text().substr(begin, at() - begin);
  }

  /// It had escapes: it is no part of the text.
  bool is_decoded(std::string_view piece) const { return piece.data() == decoded_.data(); }

  /// With at most two digits in its exponent: no such number is too large for a double, or too near 0. The parser takes -0 for 0.
  static bool is_usual(const JsonNumber& number) {
    const std::string_view digits = number.text;
    if (digits.size() > kLongestNumber || digits == "-0") return false;
    if (number.whole) return true;
    const auto exponent =
        std::find_if(digits.rbegin(), digits.rend(), [&](char c) { return !is_digit(c); });  // e, a sign or a point
    return *exponent == '.' || exponent - digits.rbegin() <= 2;
  }

  std::string decoded_;
  int depth_ = 0;
};

}  // namespace

bool skim(std::string_view text, std::vector<SkimmedField>& fields) {
  fields.clear();
  return Skimmer(text).all_fields(fields);
}

bool skim_items(std::string_view value, std::vector<std::string_view>& items) {
  items.clear();
  return Skimmer(value).all_items(items);
}

double skimmed_number(std::string_view value) {
  double number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool all = read.ec == std::errc() && read.ptr == value.data() + value.size();
  return all ? number : std::numeric_limits<double>::quiet_NaN();
}

std::optional<std::uint64_t> skimmed_whole(std::string_view value) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool all = read.ec == std::errc() && read.ptr == value.data() + value.size();
  return all ? std::optional(number) : std::nullopt;
}

}  // namespace addnorm
