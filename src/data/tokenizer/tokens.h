// The tokens that a tokenizer.json knows: what they mean as text, which of them are found before anything else, which are
// special.
#pragma once

#include <vector>

#include "addnorm/data/tokenizer.h"
#include "data/tokenizer/pieces.h"
#include "data/tokenizer/steps/steps.h"

namespace addnorm {

/// The texts of all tokens. Special ones have none.
TokenPieces pieces_of(const TokenizerSpec& spec, const TokenizerSteps& steps);
/// Those that are looked for in the normalised text, or in the text as it is; spelled as they stand there.
std::vector<AddedToken> added_of(const TokenizerSpec& spec, const TokenizerSteps& steps, bool normalized);
/// White space inside of or behind it may belong to it, so that no text may be cut before white space.
bool forbids_cuts(const AddedToken& token);
/// By the post-processor, by "padding", or by the names that are in use.
SpecialTokens special_of(const TokenizerSpec& spec, const TokenizerSteps& steps);
TextFrame frame_of(const TokenizerSpec& spec, const TokenizerSteps& steps);

}  // namespace addnorm
