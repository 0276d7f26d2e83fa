// Text -> Json: RFC 8259, by recursive descent.
#include <algorithm>
#include <charconv>
#include <utility>

#include "addnorm/core/error.h"
#include "core/json.h"
#include "core/utf8.h"

namespace addnorm {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// Stands in a text for itself, and is a character by itself.
bool is_plain(char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

/// Of a number that a double cannot hold: too large, or too near 0? By the place of its first digit, whatever its exponent.
bool is_large(std::string_view number) {
  const std::size_t first = number.find_first_of("123456789"), e = std::min(number.find_first_of("eE"), number.size());
  const std::size_t point = std::min(number.find('.'), e);
  auto places = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  if (e == number.size()) return places > 0;
  const bool negative = number[e + 1] == '-';
  std::int64_t exponent = 0;
  for (const char c : number.substr(e + 1))
    if (is_digit(c)) exponent = std::min<std::int64_t>(exponent * 10 + (c - '0'), std::int64_t{1} << 50);
  return places + (negative ? -exponent : exponent) > 0;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view where) : text_(text), where_(where) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  Json document() {
    Json json = value();
    if (at_ < text_.size()) fail("nothing more is expected here");
    return json;
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    const std::string_view before = text_.substr(0, at_);
    const std::size_t line_begin = before.rfind('\n') + 1;  // 0 where there is none
    throw DataError(concat(where_, ": not JSON: line ", std::ranges::count(before, '\n') + 1, ", column ", at_ - line_begin + 1,
                           ": ", parts..., at_ == text_.size() ? "; the text ends" : ""));
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool took(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void spaces() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }

  Json value() {
    spaces();
    Json json = one();
    spaces();
    return json;
  }

  Json one() {
    const std::string_view rest = text_.substr(at_);
    const auto word = [&](std::string_view name, Json json) {
      at_ += name.size();
      return json;
    };
    if (rest.starts_with("null")) return word("null", nullptr);
    if (rest.starts_with("true")) return word("true", true);
    if (rest.starts_with("false")) return word("false", false);
    if (peek() == '"') return string();
    if (peek() == '-' || is_digit(peek())) return number();
    if (peek() != '[' && peek() != '{') fail("a value is expected");
    if (++depth_ > kDeepest) throw DataError(concat(where_, ": nested deeper than ", kDeepest, " levels; no record of ours is"));
    Json json = took('[') ? array() : object();
    --depth_;
    return json;
  }

  Json array() {
    Json all = Json::array();
    spaces();
    if (took(']')) return all;
    do all.push_back(value());
    while (took(','));
    if (!took(']')) fail("',' or ']' is expected");
    return all;
  }

  Json object() {
    Json::Object all;
    took('{');
    spaces();
    if (took('}')) return all;
    do {
      spaces();
      if (peek() != '"') fail("the name of a field is expected, in quotes");
      std::string name = string();
      spaces();
      if (!took(':')) fail("':' is expected");
      all.push_back({std::move(name), value()});
    } while (took(','));
    if (!took('}')) fail("',' or '}' is expected");
    refuse_twice(all);
    return all;
  }

  void refuse_twice(const Json::Object& fields) const {
    std::vector<std::string_view> names;
    for (const JsonField& field : fields) names.push_back(field.key);
    std::ranges::sort(names);
    if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
      throw DataError(concat(where_, ": field ", Json(*twice).dump(), " is given twice"));
  }

  Json number() {
    const std::size_t begin = at_;
    const auto digits = [&] {
      if (!is_digit(peek())) fail("a digit is expected");
      while (is_digit(peek())) ++at_;
    };
    took('-');
    if (!took('0')) digits();
    const bool whole = peek() != '.' && peek() != 'e' && peek() != 'E';
    if (took('.')) digits();
    if (took('e') || took('E')) {
      if (!took('+')) took('-');
      digits();
    }
    return number_of(text_.substr(begin, at_ - begin), whole);
  }

  Json number_of(std::string_view text, bool whole) {
    const char* const end = text.data() + text.size();
    std::int64_t negative = 0;
    std::uint64_t positive = 0;
    if (whole && text[0] == '-' && std::from_chars(text.data(), end, negative).ec == std::errc()) return negative;
    if (whole && text[0] != '-' && std::from_chars(text.data(), end, positive).ec == std::errc()) return positive;
    double real = 0;
    if (std::from_chars(text.data(), end, real).ec == std::errc()) return real;
    if (!is_large(text)) return text[0] == '-' ? -0.0 : 0.0;
    at_ -= text.size();
    fail("the number ", text.substr(0, 40), text.size() > 40 ? "..." : "", " is too large");
  }

  std::string string() {
    std::string out;
    took('"');
    while (true) {
      const char* const rest = text_.data() + at_;  // plain letters at once: most of every text
      const char* end = rest;
      while (end != text_.data() + text_.size() && is_plain(*end)) ++end;
      out.append(rest, end);
      at_ += static_cast<std::size_t>(end - rest);
      if (took('"')) return out;
      const auto c = static_cast<unsigned char>(peek());
      if (at_ == text_.size()) fail("a text is not closed by a quote");
      if (c < 0x20) fail("a line break or another control character stands in a text; write it as \\n or \\u00XX");
      if (took('\\')) {
        escape(out);
        continue;
      }
      const unsigned length = utf8_front(text_.substr(at_)).length;
      if (length == 0) fail("the bytes are not UTF-8");
      out += text_.substr(at_, length);
      at_ += length;
    }
  }

  void escape(std::string& out) {
    static constexpr std::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    if (!took('u')) {
      const std::size_t i = at_ < text_.size() ? kLetters.find(peek()) : std::string_view::npos;
      if (i == std::string_view::npos) fail("after \\ one of \" \\ / b f n r t u is expected");
      ++at_;
      out += kMeant[i];
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
    append_utf8(out, code);
  }

  char32_t four_digits() {
    unsigned code = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() < 4 || read.ptr != digits.data() + 4) fail("four digits 0-9, a-f are expected after \\u");
    at_ += 4;
    return code;
  }

  std::string_view text_, where_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Json parsed(std::string_view text, std::string_view where) { return Parser(text, where).document(); }

Json parsed_or_null(std::string_view text) {
  try {
    return parsed(text, "");
  } catch (const DataError&) {
    return {};
  }
}

}  // namespace addnorm
