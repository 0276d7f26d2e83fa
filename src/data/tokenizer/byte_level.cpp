#include <algorithm>
#include <array>

#include "data/tokenizer/byte_level.h"

namespace addnorm {
namespace {

constexpr char32_t kMostByteCharacters = 512;  // all are below

struct SeenCharacter {
  CharClass kind;
  unsigned length;
};

SeenCharacter seen(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte < 128) return {kAsciiClasses[byte], 1};
  const Utf8Char character = utf8_long(text);
  if (character.length == 0) return {CharClass::other, 1};
  return {char_class_beyond_ascii(character.code), character.length};
}

// The end of the run of `kind` that begins at `i`.
std::size_t run(std::string_view text, std::size_t i, CharClass kind) {
  while (i < text.size()) {
    const SeenCharacter next = seen(text.substr(i));
    if (next.kind != kind) break;
    i += next.length;
  }
  return i;
}

// 's 't 'm 'd 're 've 'll, or 0.
std::size_t contraction(std::string_view text) {
  if (text.size() < 2) return 0;
  if (text[1] == 's' || text[1] == 't' || text[1] == 'm' || text[1] == 'd') return 2;
  const std::string_view two = text.substr(1, 2);
  return two == "re" || two == "ve" || two == "ll" ? 3 : 0;
}

}  // namespace

char32_t byte_character(unsigned char byte) {
  const auto shows = [](unsigned b) { return (b > 0x20 && b < 0x7F) || (b > 0xA0 && b != 0xAD); };
  if (shows(byte)) return byte;
  char32_t next = 256;  // the n-th of those that do not show
  for (unsigned b = 0; b < byte; ++b) next += !shows(b);
  return next;
}

std::string bytes_of_characters(std::string_view token) {
  static const std::array<std::int16_t, kMostByteCharacters> kBytes = [] {
    std::array<std::int16_t, kMostByteCharacters> bytes{};
    bytes.fill(-1);
    for (unsigned byte = 0; byte < 256; ++byte)
      bytes[byte_character(static_cast<unsigned char>(byte))] = static_cast<std::int16_t>(byte);
    return bytes;
  }();
  std::string bytes;
  for (std::size_t i = 0; i < token.size();) {
    const Utf8Char character = utf8_front(token.substr(i));
    if (character.length == 0 || character.code >= kMostByteCharacters || kBytes[character.code] < 0) return std::string(token);
    bytes.push_back(static_cast<char>(kBytes[character.code]));
    i += character.length;
  }
  return bytes;
}

std::size_t gpt2_word(std::string_view text) {
  if (text[0] == '\'')
    if (const std::size_t length = contraction(text); length > 0) return length;
  const std::size_t begin = text[0] == ' ' && text.size() > 1 ? 1 : 0;  // one space may stand before a word
  const SeenCharacter first = seen(text.substr(begin));
  if (first.kind != CharClass::space) return run(text, begin, first.kind);
  const std::size_t end = run(text, 0, CharClass::space);
  if (end == text.size()) return end;
  // The last one belongs to the next word, or stands alone.
  const std::size_t last = end - utf8_back(text.substr(0, end)).length;
  return last == 0 ? end : last;
}

}  // namespace addnorm
