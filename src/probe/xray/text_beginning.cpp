#include "probe/xray/text_beginning.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "addnorm/core/error.h"
#include "core/file.h"
#include "core/system/files.h"
#include "core/utf8.h"

namespace addnorm {
namespace {

constexpr std::size_t kMostText = std::size_t{1} << 22;  // bytes: kMostTextSize

FileHandle opened_text(const std::string& file, const std::string& option) {
  if (file == "-") return FileHandle(system_files::open_standard_input());
  if (is_folder(file)) throw DataError(concat(file, ": is a folder; ", option, " takes one file"));
  FileHandle handle(system_files::open_for_reading(file));
  if (handle.fd() < 0) throw DataError(concat(file, ": cannot be opened: ", std::generic_category().message(errno)));
  return handle;
}

/// Up to one byte more than is taken, of a file or of a pipe that may be idle; nothing where go_on() says so.
std::optional<std::string> read_from(const std::string& file, const std::string& name, const std::function<bool()>& go_on,
                                     const std::string& option) {
  constexpr int kMilliseconds = 100;  // between two questions whether to go on
  const FileHandle in = opened_text(file, option);
  std::string text(kMostText + 1, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    if (go_on && !go_on()) return std::nullopt;
    const std::ptrdiff_t count = system_files::read_next(in.fd(), text.data() + have, text.size() - have, kMilliseconds);
    if (count < 0 && errno == EAGAIN) continue;
    if (count < 0) throw DataError(concat(name, ": cannot be read: ", std::generic_category().message(errno)));
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  text.resize(have);
  return text;
}

bool has_text(std::string_view text) { return text.find_first_not_of(" \t\r\n") != std::string_view::npos; }

std::size_t cut_of(std::string_view text, const Tokenizer& tokenizer) {
  const std::size_t after_line = text.rfind('\n') + 1;  // 0: there is none
  for (const std::size_t cut : {tokenizer.complete(text), after_line})
    if (has_text(text.substr(0, cut))) return cut;
  return utf8_complete(text);
}

}  // namespace

TextBeginning beginning_of_text(const std::string& file, const Tokenizer& tokenizer, const std::function<bool()>& go_on,
                                const std::string& option) {
  TextBeginning read{.name = file == "-" ? "the standard input" : file};
  std::optional<std::string> text = read_from(file, read.name, go_on, option);
  read.stopped = !text;
  if (read.stopped) return read;
  read.text = *std::move(text);
  read.cut = read.text.size() > kMostText;
  if (read.cut) read.text.resize(kMostText);
  if (!has_text(read.text))
    throw DataError(concat(read.name, ": no text in ", read.cut ? concat("its first ", kMostTextSize) : "it"));
  if (read.cut) read.text.resize(cut_of(read.text, tokenizer));
  return read;
}

std::vector<std::int32_t> encoded(const Tokenizer& tokenizer, std::string_view text, const std::string& name) {
  try {
    return tokenizer.encode(text);
  } catch (const DataError& error) {
    throw DataError(concat(name, ": ", error.what()));
  }
}

std::vector<std::int32_t> first_encoded(const Tokenizer& tokenizer, std::string_view text, std::size_t enough,
                                        const std::string& name) {
  constexpr std::size_t kPiece = std::size_t{1} << 16, kBytesPerToken = 8;
  const std::size_t likely = enough < text.size() / kBytesPerToken ? enough * kBytesPerToken : text.size();
  for (std::size_t bytes = std::max(kPiece, likely); bytes < text.size(); bytes *= 2) {
    const std::size_t whole = tokenizer.complete(text.substr(0, bytes));
    if (whole == 0) continue;
    if (std::vector<std::int32_t> ids = encoded(tokenizer, text.substr(0, whole), name); ids.size() >= enough) return ids;
  }
  return encoded(tokenizer, text, name);
}

}  // namespace addnorm
