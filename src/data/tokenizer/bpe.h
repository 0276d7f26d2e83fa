// Byte pair encoding: a word as bytes or characters, of which neighbours are joined, the most important pair first, until no pair
// of neighbours is in the list.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

}  // namespace addnorm
