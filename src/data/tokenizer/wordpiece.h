// WordPiece: the longest token that begins a word, then the longest that goes on from there ("##ing"), to its end. A word that
// does not come out is unknown as a whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/spec.h"

namespace addnorm {

class WordPiece {
 public:
  /// The spec is to outlive it.
  explicit WordPiece(const TokenizerSpec& spec);
  /// Appends the ids of `word`. Linear in its length times that of the longest token.
  void encode(std::string_view word, std::vector<std::int32_t>& ids) const;
  /// What does not come out is unknown, and that is a token.
  static bool has_tokens(std::string_view /*word*/) { return true; }

 private:
  const Vocabulary* tokens_;  // of the spec
  std::string prefix_;
  std::size_t longest_token_ = 0, longest_word_;
  std::int32_t unknown_;
};

}  // namespace addnorm
