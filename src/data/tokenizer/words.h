// The model of a tokenizer, and words on their way through it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <variant>
#include <vector>

#include "data/tokenizer/bpe.h"
#include "data/tokenizer/wordpiece.h"

namespace addnorm {

using TokenizerModel = std::variant<Bpe, WordPiece>;

/// Ids of words, which come again and again: a word seen before is copied from the ids already there.
class WordEncoder {
 public:
  WordEncoder(const TokenizerModel& model, std::size_t text_bytes, std::vector<std::int32_t>& ids)
      : model_(model), ids_(ids), seen_(std::clamp<std::size_t>(std::bit_ceil(text_bytes / 8 + 1), 1, std::size_t{1} << 15)) {}

  /// The word's bytes stay where they are as long as this lives.
  void add(std::string_view word) {
    const std::size_t first = ids_.size();
    if (word.size() > kLongestKept) return encode(word);
    Seen& seen = seen_[hash(word) & (seen_.size() - 1)];
    if (seen.word == word && seen.word.data() != nullptr) {
      ids_.resize(first + seen.count);
      std::copy_n(ids_.begin() + static_cast<std::ptrdiff_t>(seen.first), seen.count,
                  ids_.begin() + static_cast<std::ptrdiff_t>(first));
      return;
    }
    encode(word);
    seen = {word, first, ids_.size() - first};
  }

 private:
  struct Seen {
    std::string_view word{};
    std::size_t first = 0, count = 0;
  };
  static constexpr std::size_t kLongestKept = 64;

  static std::size_t hash(std::string_view word) {
    std::uint64_t h = word.size() * 0x9E3779B97F4A7C15u;
    for (std::size_t i = 0; i < word.size(); i += 8) {
      std::uint64_t part = 0;
      std::memcpy(&part, word.data() + i, std::min<std::size_t>(8, word.size() - i));
      h = (h ^ part) * 0xBF58476D1CE4E5B9u;
      h ^= h >> 32;
    }
    return h;
  }
  void encode(std::string_view word) {
    std::visit([&](const auto& model) { model.encode(word, ids_); }, model_);
  }

  const TokenizerModel& model_;
  std::vector<std::int32_t>& ids_;
  std::vector<Seen> seen_;
};

}  // namespace addnorm
