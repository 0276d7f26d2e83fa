#include "data/tokenizer/alphabet.h"

#include <algorithm>

#include "addnorm/core/error.h"
#include "core/utf8.h"
#include "data/tokenizer/pieces.h"

namespace addnorm {

void Alphabet::add(std::string_view text, std::uint64_t offset) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 128) {
      ascii_[byte] = true;
      ++i;
    } else {
      add_long(text, i, offset);
    }
  }
}

void Alphabet::add_long(std::string_view text, std::size_t& i, std::uint64_t offset) {
  const Utf8Char character = utf8_long(text.substr(i));
  if (character.length == 0) {
    if (flaws_.count++ == 0) {
      flaws_.first = offset + i;
      flaws_.what = concat("the byte ", byte_name(static_cast<unsigned char>(text[i])), ", which is not UTF-8");
    }
    ++i;
    return;
  }
  if (!others_[character.code]) ++other_count_;
  others_[character.code] = true;
  i += character.length;
}

std::size_t Alphabet::size() const { return other_count_ + static_cast<std::size_t>(std::count(ascii_, ascii_ + 128, true)); }

std::u32string Alphabet::characters() const {
  std::u32string found;
  const std::size_t all = size();
  for (char32_t code = 0; found.size() < all; ++code)
    if (code < 128 ? ascii_[code] : others_[code]) found.push_back(code);
  return found;
}

std::unique_ptr<Tokenizer> char_tokenizer(std::string_view text, AddedTokens added) {
  Alphabet alphabet;
  alphabet.add(text, 0);
  if (alphabet.flaws().count > 0) throw DataError(concat("char_tokenizer: ", told(alphabet.flaws())));
  if (alphabet.size() == 0) throw DataError("char_tokenizer: the text is empty, so there are no characters");
  return char_tokenizer(alphabet.characters(), added);
}

}  // namespace addnorm
