// The text of a tokenizer.json or a vocab.json: tokens and merges, of which there are many, go at once to where a tokenizer keeps
// them; all else becomes a tree.
#pragma once

#include <string_view>

#include "core/json/json.h"
#include "data/tokenizer/spec.h"

namespace addnorm {

inline constexpr std::uint64_t kLargestId = 0x7FFFFFFF;

/// The tree of a tokenizer.json. Its model.vocab and model.merges are in `spec`, and empty in the tree; where they are no object
/// and no array, they are in the tree as they are. Merges are of tokens; whether ids make sense is not looked at.
Json read_tokenizer_text(std::string_view text, std::string_view where, TokenizerSpec& spec);
/// In the same way a text that is nothing but a vocabulary; `path` is what messages call it.
Json read_vocabulary_text(std::string_view text, std::string_view where, std::string_view path, TokenizerSpec& spec);

}  // namespace addnorm
