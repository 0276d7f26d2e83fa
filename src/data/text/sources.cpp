// Which files are read, and what they are made of.
#include <algorithm>
#include <cerrno>
#include <istream>
#include <system_error>

#include "addnorm/core/error.h"
#include "addnorm/data/text.h"
#include "core/figures.h"
#include "core/file.h"
#include "core/system/files.h"
#include "core/utf8.h"
#include "data/text/reader.h"
#include "data/tokenizer/builtin.h"
#include "data/tokenizer/pieces.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using system_files::FileKind;

bool is_hidden(const fs::path& path) { return path.filename().native().starts_with('.'); }

/// What is below `folder`, which is `top` or in it. Links to folders are not followed.
void add_below(TextSources& sources, const fs::path& folder, const fs::path& top, const OtherFolders& others) {
  const auto all = system_files::entries(folder);
  if (!all) throw DataError(concat(top.string(), ": the folder cannot be read: ", std::generic_category().message(errno)));
  for (const fs::path& path : *all) {
    const auto status = system_files::status(path);
    if (is_hidden(path)) {
      ++sources.hidden;
    } else if (status && status->kind == FileKind::folder) {
      const auto itself = system_files::link_status(path);
      if (others.is && others.is(path))
        ++sources.others;
      else if (itself && itself->kind == FileKind::folder)
        add_below(sources, path, top, others);
    } else if (status && status->kind == FileKind::file) {
      sources.files.push_back({path, path.lexically_relative(top).generic_string(), status->bytes});
    } else {
      ++sources.special;
    }
  }
}

void add_folder(TextSources& sources, const fs::path& folder, const OtherFolders& others) {
  const std::size_t first = sources.files.size();
  add_below(sources, folder, folder, others);
  if (sources.files.size() == first) throw DataError(concat(folder.string(), ": there is no file below this folder"));
  std::sort(sources.files.begin() + static_cast<std::ptrdiff_t>(first), sources.files.end(),
            [](const TextFile& a, const TextFile& b) { return a.name < b.name; });
}

/// False: stopped. Throws at the end of a file that is not UTF-8.
bool read_alphabet(const TextSources& sources, const Progress& progress, Alphabet& alphabet) {
  return read_text(
             sources, progress,
             [&](const TextPiece& piece) {
               const std::size_t whole = piece.last ? piece.text.size() : utf8_complete(piece.text);
               alphabet.add(piece.text.substr(0, whole), piece.offset);
               if (piece.last && alphabet.flaws().count > 0)
                 throw DataError(concat(piece.file.path.string(), ": ", summary(alphabet.flaws()), not_text_hint(piece.file.path),
                                        "; a model trained with ", called(sources.words, "tokenizer"), " bytes reads anything"));
               return whole;
             })
      .has_value();
}

}  // namespace

std::uint64_t TextSources::bytes() const {
  std::uint64_t sum = 0;
  for (const TextFile& file : files) sum += file.bytes;
  return sum;
}

std::string TextSources::summary() const {
  std::string left_out = hidden == 0 ? "" : concat(hidden, hidden == 1 ? " hidden one" : " hidden ones");
  if (others > 0) left_out += concat(left_out.empty() ? "" : ", ", counted(others, others_name));
  if (special > 0)
    left_out += concat(left_out.empty() ? "" : ", ", special, special == 1 ? " that is no file" : " that are no files");
  const std::string what = files.size() == 1 ? files[0].path.string() : concat(files.size(), " files");
  return concat(what, ", ", Bytes{static_cast<double>(bytes())}, left_out.empty() ? "" : concat(" (", left_out, " left out)"));
}

TextSources text_sources(std::span<const fs::path> paths, const OtherFolders& others) {
  require(!paths.empty(), "text_sources: no path is given; name files or folders");
  TextSources sources{.others_name = others.name};
  for (const fs::path& path : paths) {
    if (!is_there(path)) throw DataError(concat(path.string(), ": there is no such file or folder"));
    if (is_folder(path)) {
      add_folder(sources, path, others);
    } else {
      const InputFile file(path);  // says what it is, if not a file, and whether it may be read
      sources.files.push_back({path, path.filename().string(), file.size()});
    }
  }
  return sources;
}

TextSources saved_text(std::istream& in, const fs::path& into) {
  ReplacementFile file(into);
  std::vector<char> chunk(std::size_t{1} << 20);
  std::uint64_t bytes = 0;
  while (in) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    file.write(chunk.data(), static_cast<std::size_t>(in.gcount()));
    bytes += static_cast<std::uint64_t>(in.gcount());
  }
  if (in.bad()) throw DataError(concat("the input failed after ", bytes, " bytes; nothing was kept"));
  if (bytes == 0) throw DataError("the input is empty; there is nothing to learn from");
  file.commit();
  return text_sources(std::vector<fs::path>{into});
}

std::unique_ptr<Tokenizer> char_tokenizer(const TextSources& sources, AddedTokens added, const Progress& progress) {
  Alphabet alphabet;
  if (!read_alphabet(sources, progress, alphabet)) return nullptr;
  if (alphabet.size() == 0) throw DataError(concat(sources.summary(), ": the text is empty, so there are no characters"));
  return char_tokenizer(alphabet.characters(), added);
}

TokenizerChoice suggest_tokenizer(const TextSources& sources, AddedTokens added, const Progress& progress, std::size_t most) {
  Alphabet alphabet;
  std::string why_bytes;
  const auto look = [&](const TextPiece& piece) {
    const std::size_t whole = piece.last ? piece.text.size() : utf8_complete(piece.text);
    alphabet.add(piece.text.substr(0, whole), piece.offset);
    if (alphabet.size() > most) why_bytes = concat("the text has more than ", most, " different characters");
    if (alphabet.flaws().count > 0) {
      const TextFlaws first{1, alphabet.flaws().first, alphabet.flaws().what};
      why_bytes = concat(piece.file.path.string(), ": ", summary(first), not_text_hint(piece.file.path));
    }
    return whole;
  };
  const Progress until_known = [&](double share) { return why_bytes.empty() && (!progress || progress(share)); };
  if (!read_text(sources, until_known, look) && why_bytes.empty()) return {};
  if (why_bytes.empty() && alphabet.size() == 0) why_bytes = "the text is empty";
  if (!why_bytes.empty()) return {byte_tokenizer(added), concat("bytes: ", why_bytes)};
  return {char_tokenizer(alphabet.characters(), added),
          concat("characters: the text is UTF-8 and has ", alphabet.size(), " different ones")};
}

}  // namespace addnorm
