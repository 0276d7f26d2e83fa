#include "data/tokenizer/pieces.h"

#include <cstdio>

#include "core/utf8.h"

namespace addnorm {

std::string summary(const TextFlaws& flaws) {
  return concat("at byte ", flaws.first, " stands ", flaws.what,
                flaws.count == 1 ? "" : concat("; ", flaws.count, " such places"));
}

void fail_to_encode(const TextFlaws& flaws) { throw DataError(concat("encode: ", summary(flaws))); }

std::string character_name(char32_t code) {
  char number[16];
  std::snprintf(number, sizeof number, "U+%04X", static_cast<unsigned>(code));
  std::string name = number;
  const bool shows = code > 0x20 && (code < 0x7F || code > 0xA0);
  if (!shows) return name;
  name += " '";
  append_utf8(name, code);
  return name + "'";
}

std::string byte_name(unsigned char byte) {
  char number[8];
  std::snprintf(number, sizeof number, "0x%02X", byte);
  return number;
}

}  // namespace addnorm
