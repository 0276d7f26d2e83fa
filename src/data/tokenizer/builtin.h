// The tokenizers that need no file: bytes, and the characters of a text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/data/tokenizer.h"
#include "data/tokenizer/spec.h"

namespace addnorm {

/// The different characters of a text, found piece by piece.
class Alphabet {
 public:
  /// A character that is cut at the end is a flaw: give whole ones (utf8_complete). `offset`: of `text` in its file.
  void add(std::string_view text, std::uint64_t offset);
  const TextFlaws& flaws() const { return flaws_; }  ///< what is not UTF-8
  std::size_t size() const;                          ///< different characters so far
  std::u32string characters() const;                 ///< in their order in Unicode

 private:
  void add_long(std::string_view text, std::size_t& i, std::uint64_t offset);

  bool ascii_[128] = {};
  std::vector<bool> others_ = std::vector<bool>(0x110000);
  std::size_t other_count_ = 0;
  TextFlaws flaws_;
};

/// The tokenizer with these ids.
std::unique_ptr<Tokenizer> char_tokenizer(const std::u32string& characters, AddedTokens added);

/// The tokenizer of bytes or of characters that wrote this; null: none of them did.
std::unique_ptr<Tokenizer> builtin_from(const TokenizerSpec& spec);

}  // namespace addnorm
