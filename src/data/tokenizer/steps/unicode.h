// What Unicode says of characters and texts. One source file for each library that knows; ADDNORM_UNICODE chooses
// (cmake/platform.cmake). Patterns use other tables: regex.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace addnorm {

/// False: of characters beyond ASCII only white space is known, and the rest of this file throws a DataError for them.
extern const bool kKnowsUnicode;
inline constexpr const char* kWithoutUnicode =
    "this build of addnorm knows no characters beyond ASCII (ADDNORM_UNICODE=none); build it with ICU, or take another tokenizer";

/// What byte-level BPE distinguishes: \p{L}, \p{N}, \s and all else.
enum class CharClass : std::uint8_t { other, letter, number, space };

CharClass char_class_beyond_ascii(char32_t code);

inline constexpr std::array<CharClass, 128> kAsciiClasses = [] {
  std::array<CharClass, 128> classes{};
  for (unsigned c = 0; c < 128; ++c) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) classes[c] = CharClass::letter;
    if (c >= '0' && c <= '9') classes[c] = CharClass::number;
    if (c == ' ' || (c >= '\t' && c <= '\r')) classes[c] = CharClass::space;
  }
  return classes;
}();

inline CharClass char_class(char32_t code) { return code < 128 ? kAsciiClasses[code] : char_class_beyond_ascii(code); }
inline bool is_white(char32_t code) { return char_class(code) == CharClass::space; }
inline bool is_numeric(char32_t code) { return char_class(code) == CharClass::number; }

bool is_mark(char32_t code);             ///< Mn, Mc, Me
bool is_nonspacing_mark(char32_t code);  ///< Mn
bool is_other(char32_t code);            ///< Cc, Cf, Co, Cs: control characters and the like
bool is_punctuation(char32_t code);      ///< P*, and the signs of ASCII that Unicode calls symbols: $ + < = > ^ ` | ~
bool is_word(char32_t code);             ///< \w: letters, marks, digits, connectors, joiners
/// Lower case of one character, whatever stands beside it.
std::u32string_view lower(char32_t code, char32_t (&room)[2]);

enum class UnicodeForm { nfc, nfd, nfkc, nfkd };
/// `text` is UTF-8.
void normalize(std::string& text, UnicodeForm form);

}  // namespace addnorm
