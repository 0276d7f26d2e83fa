// Text as training data: files and folders read piece by piece, tokenised once, kept as a file of ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "addnorm/core/names.h"
#include "addnorm/data/progress.h"
#include "addnorm/data/text_dataset.h"
#include "addnorm/data/tokenizer.h"

namespace addnorm {

struct TextFile {
  std::filesystem::path path{};
  std::string name{};       ///< below the folder that was named; a file's own name
  std::uint64_t bytes = 0;  ///< when it was found
};

/// Files in the order in which they are read.
struct TextSources {
  std::vector<TextFile> files{};
  std::size_t hidden = 0;   ///< files and folders left out because their names begin with a dot
  std::size_t special = 0;  ///< pipes, devices and links to nowhere left out of folders
  std::size_t others = 0;   ///< folders left out because OtherFolders knew them
  std::string others_name{};
  FieldWords words{};  ///< what messages about this text call `tokenizer`, the choice of how it is cut

  std::uint64_t bytes() const;
  std::string summary() const;  ///< "3 files, 4.2 MiB (2 hidden ones left out)"
};

/// Folders below the named ones that hold something other than text, such as what a training wrote.
struct OtherFolders {
  std::string name{};                                             ///< of one of them: "run"
  std::function<bool(const std::filesystem::path& folder)> is{};  ///< none: there are no such folders
};

/// Files as they are given; folders with all that is below them, sorted by name (bytes), hidden ones left out. Links to files are
/// followed, links to folders only where they are named themselves. `others` are left out. Nothing to read, a path that is not
/// there, a folder that cannot be read: DataError.
TextSources text_sources(std::span<const std::filesystem::path> paths, const OtherFolders& others = {});

/// Copies `in` (such as std::cin) to the file `into`, as a whole or not at all: what is read once only can be read again, and a
/// run can be resumed. Nothing to copy is a DataError.
TextSources saved_text(std::istream& in, const std::filesystem::path& into);

/// The characters of all files. Null: stopped. Text that is not UTF-8 is a DataError: file, first bad offset, how many there are.
std::unique_ptr<Tokenizer> char_tokenizer(const TextSources& sources, AddedTokens added = {}, const Progress& progress = {});

struct TokenizerChoice {
  std::unique_ptr<Tokenizer> tokenizer{};  ///< null: stopped
  std::string reason{};                    ///< "characters: the text is UTF-8 and has 65 different ones"
};

/// Characters where the text is UTF-8 and has at most `most` different ones, else bytes.
TokenizerChoice suggest_tokenizer(const TextSources& sources, AddedTokens added = {}, const Progress& progress = {},
                                  std::size_t most = 256);

/// The ids of a text, in a file that is mapped into memory: 1, 2 or 4 bytes each, as the vocabulary needs. Files follow one
/// another with nothing between them. Immutable; threads may share it. docs/file-formats.md describes the file. copy(): beyond
/// size() is a UsageError; a file truncated meanwhile is a DataError.
class TokenFile : public TokenSource {
 public:
  virtual std::uint64_t source_bytes() const = 0;  ///< of text: bits per byte are nats per id * size() / source_bytes() / ln 2
  virtual std::uint64_t fingerprint() const = 0;   ///< a function of the text, the tokenizer and all ids
  virtual const std::string& history() const = 0;  ///< "read from x.tokens", "made anew: the text has changed"
};

/// What `cache` holds when it was made by this tokenizer from these bytes (all of them are read and compared by a checksum) and
/// is whole itself; otherwise the text is tokenised and the cache written anew. Memory does not grow with the text. Null:
/// stopped.
std::unique_ptr<TokenFile> token_file(const TextSources& sources, const Tokenizer& tokenizer, const std::filesystem::path& cache,
                                      const Progress& progress = {});
/// Ids in memory.
std::unique_ptr<TokenFile> token_memory(std::vector<std::int32_t> ids, std::uint64_t source_bytes);

}  // namespace addnorm
