#include "core/json/text.h"

#include <charconv>

#include "core/utf8.h"

namespace addnorm {

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

}  // namespace addnorm
