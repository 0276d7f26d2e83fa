// The tokens that a tokenizer.json knows: what they mean as text, which of them are found before anything else, which are
// special.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "addnorm/data/tokenizer.h"
#include "data/tokenizer/pieces.h"
#include "data/tokenizer/steps/steps.h"

namespace addnorm {

/// The texts of all tokens. Special ones have none.
TokenPieces pieces_of(const TokenizerSpec& spec, const TokenizerSteps& steps);
/// Those that are looked for in the normalised text, or in the text as it is; spelled as they stand there.
std::vector<AddedToken> added_of(const TokenizerSpec& spec, const TokenizerSteps& steps, bool normalized);
/// White space inside of it or after it may belong to it, so that no text may be cut before white space.
bool forbids_cuts(const AddedToken& token);
/// By the post-processor, by "padding", or by the names that are in use.
SpecialTokens special_of(const TokenizerSpec& spec, const TokenizerSteps& steps);
TextFrame frame_of(const TokenizerSpec& spec, const TokenizerSteps& steps);

/// A part of a text: a token, or (id -1) text between tokens.
struct AddedPart {
  std::int32_t id;
  std::string_view text;
};

/// Finds added tokens in a text, before anything else happens to it. The longest of those that begin at the leftmost place is
/// taken.
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
