// What a tokenizer.json says, checked, as plain data: from it tokenizers are made and files written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "addnorm/data/tokenizer.h"

namespace addnorm {

/// The tokens of a model and their ids. Texts are stored one after another, and a table finds them: some 28 bytes for a token
/// besides its text. All texts together have less than 4 GB; views of them hold until the next add().
class Vocabulary {
 public:
  struct Token {
    std::string_view text;
    std::int32_t id;
    friend bool operator==(const Token&, const Token&) = default;
  };
  class Iterator {
   public:
    Iterator(const Vocabulary& all, std::size_t at) : all_(&all), at_(at) {}
    Token operator*() const { return (*all_)[at_]; }
    Iterator& operator++() { return ++at_, *this; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const Vocabulary* all_;
    std::size_t at_;
  };

  /// False, and nothing changes, where the text has an id already.
  bool add(std::string_view text, std::int32_t id);
  /// By ascending ids; of equal ids, what was added first comes first.
  void sort();

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  Token operator[](std::size_t i) const { return {text_of(entries_[i]), entries_[i].id}; }
  Token back() const { return (*this)[size() - 1]; }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  std::optional<std::int32_t> id_of(std::string_view text) const;
  /// Of a vocabulary with ascending ids.
  std::optional<std::string_view> text_of(std::int32_t id) const;

  /// The same tokens in the same order.
  friend bool operator==(const Vocabulary& a, const Vocabulary& b);

 private:
  struct Entry {
    std::uint32_t first, size;
    std::int32_t id;
  };
  std::string_view text_of(const Entry& entry) const { return std::string_view(texts_).substr(entry.first, entry.size); }
  std::size_t slot_of(std::string_view text) const;  ///< where it is, or where it would be
  void make_slots(std::size_t count);

  std::string texts_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // 1 + number of the entry, 0: none; a power of two, at most half of them taken
};

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

/// A tokenizer.json as Hugging Face's `tokenizers` reads it.
std::string json_of(const TokenizerSpec& spec);

/// The tokenizer that does what it says. `where`: the file, for messages.
std::unique_ptr<Tokenizer> pipeline_tokenizer(TokenizerSpec spec, std::string_view where);

}  // namespace addnorm
