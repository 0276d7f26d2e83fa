// Files read piece by piece, whatever their size.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "addnorm/data/text.h"

namespace addnorm {

/// A part of a file: the bytes from `offset` on.
struct TextPiece {
  const TextFile& file;
  std::string_view text;
  std::uint64_t offset;
  bool last;  ///< of its file
};

/// Gives `take` all files, each from its beginning to its end. `take` returns how many bytes it has used: the rest comes again,
/// with more after it, and of the last piece of a file all must be used. `most` bytes of which it uses none are a DataError,
/// which ends with `why`. Returns the checksum of all bytes; nothing when stopped. A file that changes
/// meanwhile is a DataError. `work` says what share of the whole work this is: [from, to].
std::optional<std::uint64_t> read_text(const TextSources& sources, const Progress& progress,
                                       const std::function<std::size_t(const TextPiece&)>& take, std::string_view why = "",
                                       double from = 0, double to = 1);

/// Of the names and sizes alone.
std::uint64_t checksum_of_names(const TextSources& sources);

/// A hint for a file whose bytes are not text: "; it begins like a gzip file: unpack it first". Empty: nothing.
std::string not_text_hint(const std::filesystem::path& path);

}  // namespace addnorm
