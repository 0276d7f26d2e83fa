// Tokens of a part of a line; errors name the line.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "addnorm/data/tokenizer.h"
#include "data/samples/lines.h"

namespace addnorm {

inline std::vector<std::int32_t> line_tokens(const Lines& lines, const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::int32_t> ids;
  try {
    ids = tokenizer.encode(text);
  } catch (const DataError& error) {
    lines.fail("'", shown(text), "': ", error.what());
  }
  if (ids.empty()) lines.fail("'", shown(text), "' has no tokens");  // a tokenizer may drop spaces
  return ids;
}

/// Samples are numbered with 32 bits.
inline void check_count(const Lines& lines, std::size_t samples) {
  if (samples == std::numeric_limits<std::uint32_t>::max()) lines.fail("more than ", samples - 1, " samples");
}

}  // namespace addnorm
