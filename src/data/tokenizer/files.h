// The files of tokenizers, read into specs: a tokenizer.json or vocab.json, lines of merges, llama2.c's tokenizer.bin.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "addnorm/core/error.h"
#include "core/json/json.h"
#include "core/printable.h"
#include "data/tokenizer/spec.h"

namespace addnorm {

inline constexpr std::uint64_t kLargestId = 0x7FFFFFFF;

/// The tree of a tokenizer.json. Tokens and merges, of which there are many, go at once to where a tokenizer keeps them: its
/// model.vocab and model.merges are in `spec`, and empty in the tree; where they are no object and no array, they are in the tree
/// as they are. Merges are of tokens; whether ids make sense is not looked at.
Json read_tokenizer_text(std::string_view text, std::string_view where, TokenizerSpec& spec);
/// In the same way a text that is nothing but a vocabulary; `path` is what messages call it.
Json read_vocabulary_text(std::string_view text, std::string_view where, std::string_view path, TokenizerSpec& spec);

/// A merge of byte pair encoding, as files name it. Both sides and what they give must be tokens. `place` says where it stands:
/// "tokenizer.json: model.merges[7]".
template <class Place>
void add_merge(std::string_view left, std::string_view right, TokenizerSpec& spec, const Place& place) {
  const auto id_of = [&](std::string_view token) {
    const auto id = spec.vocabulary.id_of(token);
    if (!id)
      throw DataError(
          printable(concat(place(), ": joins '", left, "' and '", right, "', but '", token, "' is not in the vocabulary")));
    return *id;
  };
  const std::int32_t first = id_of(left), second = id_of(right), merged = id_of(std::string(left).append(right));
  spec.merges.emplace_back(first, second);
  spec.merged.push_back(merged);
}

/// "a b": two tokens and one space.
template <class Place>
void add_merge(std::string_view line, TokenizerSpec& spec, const Place& place) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || space == 0 || space + 1 == line.size() ||
      line.find(' ', space + 1) != std::string_view::npos)
    throw DataError(
        printable(concat(place(), ": is '", line.substr(0, 60), "'; it must be two tokens with a space between them")));
  add_merge(line.substr(0, space), line.substr(space + 1), spec, place);
}

/// llama2.c's tokenizer.bin: SentencePiece's BPE as tokens with scores.
///
/// The file: the length of the longest token, then for each id a score (float32), a length and that many bytes. Ids 0, 1 and 2
/// are unknown, begin and end; then come 256 bytes, "<0x00>" to "<0xFF>". A pair of neighbours is joined when what it makes is a
/// token, the highest score first: that is the rank of the merge. Of a token that can be made in several ways the shortest left
/// part goes first; where a text offers two ways that overlap ("aa", "a", "aa"), llama2.c takes the left one.
TokenizerSpec llama2c_spec(const std::filesystem::path& path);

}  // namespace addnorm
