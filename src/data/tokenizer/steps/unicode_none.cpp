// Without tables of Unicode: white space is known, all else only of ASCII. Steps that are of no use with that are refused when a
// tokenizer is read (require_unicode); the others, of which the built-in language has one, refuse a character when they meet it.
#include <algorithm>

#include "addnorm/core/error.h"
#include "data/tokenizer/pieces.h"
#include "data/tokenizer/steps/unicode.h"

namespace addnorm {
namespace {

[[noreturn]] void refuse_character(char32_t code) { throw DataError(concat(character_name(code), ": ", kWithoutUnicode)); }
bool is_ascii(char32_t code, std::string_view among) {
  if (code >= 128) refuse_character(code);
  return among.find(static_cast<char>(code)) != std::string_view::npos;
}

}  // namespace

const bool kKnowsUnicode = false;

CharClass char_class_beyond_ascii(char32_t code) {
  const bool white = code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
                     code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
  return white ? CharClass::space : CharClass::other;
}

bool is_mark(char32_t code) { return is_ascii(code, ""); }
bool is_nonspacing_mark(char32_t code) { return is_ascii(code, ""); }
bool is_other(char32_t code) { return is_ascii(code, "\x7F") || code < 0x20; }
bool is_punctuation(char32_t code) { return is_ascii(code, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"); }
bool is_word(char32_t code) {
  return is_ascii(code, "_") || char_class(code) == CharClass::letter || char_class(code) == CharClass::number;
}

std::u32string_view lower(char32_t code, char32_t (&room)[2]) {
  room[0] = is_ascii(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") ? code + 32 : code;
  return {room, 1};
}

void normalize(std::string& text, UnicodeForm) {
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 128; })) throw DataError(kWithoutUnicode);
}

}  // namespace addnorm
