#include "core/printable.h"

#include <algorithm>
#include <utility>

namespace addnorm {

bool is_printable(char32_t code) {
  const auto in = [code](char32_t first, char32_t last) { return code >= first && code <= last; };
  return code >= 0x20 && !in(0x7F, 0x9F) && !in(0x2028, 0x202E) && !in(0x2066, 0x2069);
}

std::string written_out(Utf8Char character, char byte) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const auto& [known, letter] : {std::pair{'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}})
    if (byte == known) return {'\\', letter};
  const bool one_byte = character.length < 2;
  const char32_t code = one_byte ? static_cast<unsigned char>(byte) : character.code;
  std::string out = one_byte ? "\\x" : "\\u";
  for (int shift = one_byte ? 4 : 12; shift >= 0; shift -= 4) out += kHex[code >> shift & 15];  // none is beyond 16 bits
  return out;
}

std::string printable(std::string text, LineBreaks breaks) {
  const auto stays = [breaks](Utf8Char c) {
    return c.length > 0 && (is_printable(c.code) || (breaks == LineBreaks::kept && (c.code == '\n' || c.code == '\t')));
  };
  std::string out;
  const std::string_view all = text;
  std::size_t taken = 0;  // what stands before it is in `out`
  for (std::size_t at = 0; at < all.size();) {
    const Utf8Char character = utf8_front(all.substr(at));
    const std::size_t end = at + std::max(1u, character.length);
    if (!stays(character)) {
      out.append(all, taken, at - taken).append(written_out(character, all[at]));
      taken = end;
    }
    at = end;
  }
  if (taken == 0) return text;
  out.append(all, taken);
  return out;
}

}  // namespace addnorm
