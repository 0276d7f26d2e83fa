#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "addnorm/core/error.h"
#include "core/checksum.h"
#include "core/file.h"
#include "data/text/reader.h"
#include "data/text/token_file.h"
#include "data/tokenizer/pieces.h"

namespace addnorm {
namespace {

template <class Stored>
void narrow(std::span<const std::int32_t> ids, char* to) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto stored = static_cast<Stored>(ids[i]);
    std::memcpy(to + i * sizeof stored, &stored, sizeof stored);
  }
}

/// Packs ids into blocks and writes them.
class TokenWriter {
 public:
  TokenWriter(const std::filesystem::path& path, std::size_t vocabulary) : file_(path) {
    head_.id_bytes = bytes_per_id(vocabulary);
    record_.vocabulary = vocabulary;
    file_.write(&head_, sizeof head_);
  }
  void add(std::span<const std::int32_t> ids) {
    record_.ids += ids.size();
    for (std::size_t i = 0; i < ids.size();) {
      const std::size_t count = std::min(ids.size() - i, (kTokenBlock - block_.size()) / head_.id_bytes);
      pack(ids.subspan(i, count));
      i += count;
      if (block_.size() == kTokenBlock) flush();
    }
  }
  void finish(std::uint64_t tokenizer, const TextSources& sources, std::uint64_t source) {
    flush();
    record_.tokenizer = tokenizer;
    record_.names = checksum_of_names(sources);
    record_.source = source;
    record_.source_bytes = sources.bytes();
    record_.payload = ids_.value();
    record_.self = checksum_of(head_, record_);
    file_.write(&record_, sizeof record_);
    file_.commit();
  }

 private:
  void pack(std::span<const std::int32_t> ids) {
    const std::size_t before = block_.size();
    block_.resize(before + ids.size() * head_.id_bytes);
    if (head_.id_bytes == 1) narrow<std::uint8_t>(ids, block_.data() + before);
    if (head_.id_bytes == 2) narrow<std::uint16_t>(ids, block_.data() + before);
    if (head_.id_bytes == 4) narrow<std::uint32_t>(ids, block_.data() + before);
  }
  void flush() {
    if (block_.empty()) return;
    ids_.add(block_.data(), block_.size());
    file_.write(block_.data(), block_.size());
    block_.clear();
  }

  ReplacementFile file_;
  TokenHead head_;
  TokenRecord record_;
  Checksum ids_;
  std::string block_;
};

/// Encodes piece by piece; a file with text that has no tokens is read to its end, to count the places.
class TextEncoder {
 public:
  TextEncoder(const Tokenizer& tokenizer, TokenWriter& into) : tokenizer_(tokenizer), into_(into) {}

  std::size_t take(const TextPiece& piece) {
    const std::size_t whole = piece.last ? piece.text.size() : tokenizer_.complete(piece.text);
    const std::string_view text = piece.text.substr(0, whole);
    const TextFlaws found = flaws_.count > 0 ? tokenizer_.flaws(text) : encoded(text);
    if (flaws_.count + found.count > 0) count(piece, found);
    into_.add(ids_);
    ids_.clear();
    return whole;
  }

 private:
  /// Into ids_, or what has no tokens.
  TextFlaws encoded(std::string_view text) {
    try {
      ids_ = tokenizer_.encode(text);
      return {};
    } catch (const DataError&) {
      TextFlaws found = tokenizer_.flaws(text);
      if (found.count == 0) throw;  // something else
      return found;
    }
  }
  void count(const TextPiece& piece, const TextFlaws& here) {
    if (flaws_.count == 0) {
      flaws_.first = piece.offset + here.first;
      flaws_.what = here.what;
    }
    flaws_.count += here.count;
    if (piece.last)
      throw DataError(concat(piece.file.path.string(), ": ", told(flaws_), not_text_hint(piece.file.path),
                             "; a model trained with --tokenizer bytes reads anything"));
  }

  const Tokenizer& tokenizer_;
  TokenWriter& into_;
  std::vector<std::int32_t> ids_;
  TextFlaws flaws_;
};

}  // namespace

bool write_token_file(const TextSources& sources, const Tokenizer& tokenizer, std::uint64_t tokenizer_sum,
                      const std::filesystem::path& cache, const Progress& progress) {
  TokenWriter writer(cache, tokenizer.vocabulary());
  TextEncoder encoder(tokenizer, writer);
  const std::string why = concat(": the tokenizer (", tokenizer.kind(), ") needs them as a whole");
  const auto source = read_text(
      sources, progress, [&](const TextPiece& piece) { return encoder.take(piece); }, why);
  if (source) writer.finish(tokenizer_sum, sources, *source);
  return source.has_value();
}

}  // namespace addnorm
