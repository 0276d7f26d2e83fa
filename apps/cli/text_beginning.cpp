#include "text_beginning.h"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "addnorm/core/error.h"
#include "core/file.h"
#include "core/utf8.h"
#include "run_model.h"

namespace addnorm::cli {
namespace {

constexpr std::size_t kMostText = std::size_t{1} << 22;  // bytes: kMostTextTold

/// Up to one byte more than is taken.
std::string read_from(const std::string& file) {
  std::string text;
  if (file == "-") {
    tell_if_waiting(std::cerr);
    text.resize(kMostText + 1);
    std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::cin.gcount()));
    return text;
  }
  if (std::filesystem::is_directory(file)) throw DataError(file + ": is a folder; --text takes one file");
  const InputFile in(file);
  text.resize(static_cast<std::size_t>(std::min<std::uint64_t>(in.size(), kMostText + 1)));
  in.read(0, text.data(), text.size());
  return text;
}

bool has_text(std::string_view text) { return text.find_first_not_of(" \t\r\n") != std::string_view::npos; }

std::size_t cut_of(std::string_view text, const Tokenizer& tokenizer) {
  const std::size_t behind_line = text.rfind('\n') + 1;  // 0: there is none
  for (const std::size_t cut : {tokenizer.complete(text), behind_line})
    if (has_text(text.substr(0, cut))) return cut;
  return utf8_complete(text);
}

}  // namespace

TextBeginning beginning_of_text(const std::string& file, const Tokenizer& tokenizer) {
  TextBeginning read{.text = read_from(file), .told = file == "-" ? "the standard input" : file};
  read.cut = read.text.size() > kMostText;
  if (read.cut) read.text.resize(kMostText);
  if (!has_text(read.text))
    throw DataError(concat(read.told, ": no text in ", read.cut ? concat("its first ", kMostTextTold) : "it"));
  if (read.cut) read.text.resize(cut_of(read.text, tokenizer));
  return read;
}

std::vector<std::int32_t> encoded(const Tokenizer& tokenizer, std::string_view text, const std::string& told) {
  try {
    return tokenizer.encode(text);
  } catch (const DataError& error) {
    throw DataError(concat(told, ": ", error.what()));
  }
}

std::vector<std::int32_t> first_encoded(const Tokenizer& tokenizer, std::string_view text, std::size_t enough,
                                        const std::string& told) {
  constexpr std::size_t kPiece = std::size_t{1} << 16, kBytesPerToken = 8;
  const std::size_t likely = enough < text.size() / kBytesPerToken ? enough * kBytesPerToken : text.size();
  for (std::size_t bytes = std::max(kPiece, likely); bytes < text.size(); bytes *= 2) {
    const std::size_t whole = tokenizer.complete(text.substr(0, bytes));
    if (whole == 0) continue;
    if (std::vector<std::int32_t> ids = encoded(tokenizer, text.substr(0, whole), told); ids.size() >= enough) return ids;
  }
  return encoded(tokenizer, text, told);
}

}  // namespace addnorm::cli
