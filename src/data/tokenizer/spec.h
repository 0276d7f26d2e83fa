// What a tokenizer.json says, checked, as plain data: from it tokenizers are made and files written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/tokenizer/vocabulary.h"

namespace addnorm {

/// Matched in the text before anything else.
struct AddedToken {
  std::int32_t id = 0;
  std::string content{};
  bool single_word = false;  ///< only where no letter or digit is beside it
  bool lstrip = false;       ///< takes the white space before it
  bool rstrip = false;
  bool normalized = false;  ///< matched in the normalised text
  bool special = false;     ///< decodes to nothing
};

struct TokenizerSpec {
  std::string model{};                                          ///< "BPE", "WordPiece"
  Vocabulary vocabulary{};                                      ///< of the model, ascending ids
  std::vector<std::pair<std::int32_t, std::int32_t>> merges{};  ///< ids of what is joined, first the most important
  std::vector<std::int32_t> merged{};                           ///< what each gives
  std::string unknown{};                                        ///< a token of the model; empty: none
  std::string prefix = "##";                                    ///< WordPiece: of what does not begin a word
  std::size_t longest_word = 100;                               ///< WordPiece: characters
  bool byte_fallback = false;                                   ///< BPE: unknown characters as "<0xC3>"
  bool fuse_unknown = false;                                    ///< BPE: neighbours become one
  bool ignore_merges = false;                                   ///< BPE: a word that is a token is taken as it is
  std::vector<AddedToken> added{};

  // As JSON, the way they came.
  std::string normalizer = "null";
  std::string pre_tokenizer = "null";
  std::string post_processor = "null";
  std::string decoder = "null";
  std::string padding = "null";
};

/// A tokenizer.json.
std::string json_of(const TokenizerSpec& spec);

/// The character that stands for a byte in byte-level vocabularies: itself where it can be printed, else U+0100 and following.
char32_t byte_character(unsigned char byte);

}  // namespace addnorm
