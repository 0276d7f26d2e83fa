// llama2.c's tokenizer.bin: SentencePiece's BPE as tokens with scores.
#pragma once

#include <filesystem>

#include "data/tokenizer/spec.h"

namespace addnorm {

/// The file: the length of the longest token, then for each id a score (float32), a length and so many bytes. Ids 0, 1 and 2 are
/// unknown, begin and end; then come 256 bytes, "<0x00>" to "<0xFF>". A pair of neighbours is joined when what it makes is a
/// token, the highest score first: that is the rank of the merge. Of a token that can be made in several ways the shortest left
/// part goes first; where a text offers two ways that overlap ("aa", "a", "aa"), llama2.c takes the left one.
TokenizerSpec llama2c_spec(const std::filesystem::path& path);

}  // namespace addnorm
