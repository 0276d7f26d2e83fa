// Added tokens: found in the text before anything else happens to it.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/tokenizer/spec.h"

namespace addnorm {

/// A part of a text: a token, or (id -1) text between tokens.
struct AddedPart {
  std::int32_t id;
  std::string_view text;
};

/// The longest of those that begin at the leftmost place is taken.
class AddedTokenFinder {
 public:
  AddedTokenFinder() = default;
  explicit AddedTokenFinder(std::vector<AddedToken> tokens);
  AddedTokenFinder(AddedTokenFinder&&) = default;  // by_content_ names what tokens_ holds: it moves, but is not copied
  AddedTokenFinder& operator=(AddedTokenFinder&&) = default;
  bool empty() const { return tokens_.empty(); }
  std::vector<AddedPart> parts(std::string_view text) const;

 private:
  const AddedToken* found_at(std::string_view text) const;

  std::vector<AddedToken> tokens_;
  std::unordered_map<std::string_view, std::size_t> by_content_;
  std::vector<std::size_t> lengths_[256];  // of the tokens that begin with a byte, descending
};

}  // namespace addnorm
