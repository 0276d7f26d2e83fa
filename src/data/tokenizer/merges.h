// Merges of byte pair encoding, as files name them. `place` says where one stands: "tokenizer.json: model.merges[7]".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "addnorm/core/error.h"
#include "core/printable.h"
#include "data/tokenizer/spec.h"

namespace addnorm {

/// Both sides and what they give must be tokens.
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

}  // namespace addnorm
