// The models of tokenizers, which take a word apart into tokens: byte pair encoding and WordPiece. And words on their way through
// one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "data/tokenizer/spec.h"

namespace addnorm {

/// Which pairs of ids are joined: an open hash table, because every second step of encoding asks it.
class MergeTable {
 public:
  struct Merge {
    std::uint32_t rank = kNone;  ///< the lower the earlier
    std::int32_t merged = 0;
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  explicit MergeTable(const TokenizerSpec& spec);
  Merge find(std::int32_t left, std::int32_t right) const {
    const std::uint64_t key = key_of(left, right);
    for (std::size_t i = slot(key);; i = (i + 1) & mask_) {
      if (slots_[i].key == key) return slots_[i].merge;
      if (slots_[i].key == kEmpty) return {};
    }
  }

 private:
  struct Slot {
    std::uint64_t key = kEmpty;
    Merge merge{};
  };
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};  // ids are not negative
  static std::uint64_t key_of(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
  }
  std::size_t slot(std::uint64_t key) const { return (key * 0x9E3779B97F4A7C15u) >> shift_; }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  int shift_ = 0;
};

/// Byte pair encoding: a word as bytes or characters, of which neighbours are joined, the most important pair first, until no
/// pair of neighbours is in the list.
class Bpe {
 public:
  static constexpr std::int32_t kNoToken = -1;

  /// `byte_level`: words are bytes, and the vocabulary spells them as byte_character does. The spec is to outlive it.
  Bpe(const TokenizerSpec& spec, bool byte_level);
  /// Appends the ids of `word`; kNoToken for what has none. n log n in the length of the word.
  void encode(std::string_view word, std::vector<std::int32_t>& ids) const;
  /// Whether encode() gives no kNoToken. Joining neighbours changes nothing about that: linear, and nothing is allocated.
  bool has_tokens(std::string_view word) const;

 private:
  void spell_in_bytes();
  std::optional<std::int32_t> whole_word(std::string_view word) const;
  bool has_bytes(std::string_view character) const;
  void symbols(std::string_view word, std::vector<std::int32_t>& ids) const;
  void add_unknown(std::string_view character, std::vector<std::int32_t>& ids, std::size_t first) const;
  std::size_t merge_few(std::int32_t* ids, std::size_t count) const;
  std::size_t merge_many(std::int32_t* ids, std::size_t count) const;

  bool byte_level_, ignore_merges_, fuse_unknown_;
  std::int32_t unknown_ = kNoToken;
  std::array<std::int32_t, 256> bytes_;  // of byte-level vocabularies, or of "<0xC3>" where bytes stand in for characters
  const Vocabulary* tokens_;             // of the spec
  Vocabulary byte_words_;                // byte-level vocabularies, where words are looked up: spelled in bytes
  MergeTable merges_;
};

/// WordPiece: the longest token that begins a word, then the longest that goes on from there ("##ing"), to its end. A word that
/// does not come out is unknown as a whole.
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
