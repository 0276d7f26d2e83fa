// The file of ids: a head of 64 bytes, the ids, and a record of 64 bytes after them, which is written last and without which the
// file is invalid. Written while the text is read piece by piece; read by mapping it into memory, and nothing in it
// is used before it has been checked.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "addnorm/core/checked.h"
#include "addnorm/core/error.h"
#include "addnorm/data/text.h"
#include "core/checksum.h"
#include "core/file.h"
#include "core/system/files.h"
#include "data/text/reader.h"
#include "data/tokenizer/pieces.h"

namespace addnorm {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little-endian");

constexpr std::size_t kTokenBlock = std::size_t{1} << 20;  // of ids, in bytes: written and read at once

struct TokenHead {
  char magic[8] = {'a', 'd', 'd', 'n', 'o', 'r', 'm', 'T'};
  std::uint32_t version = 2;
  std::uint32_t id_bytes = 0;
  std::uint64_t reserved[6] = {};
};
static_assert(sizeof(TokenHead) == 64);

struct TokenRecord {
  std::uint64_t ids = 0;
  std::uint64_t vocabulary = 0;
  std::uint64_t tokenizer = 0;  // checksum of its to_json()
  std::uint64_t names = 0;      // of the files' names and sizes
  std::uint64_t source = 0;     // of the files' bytes, one file after another
  std::uint64_t source_bytes = 0;
  std::uint64_t payload = 0;  // of the ids
  std::uint64_t self = 0;     // of the head and of the fields above
};
static_assert(sizeof(TokenRecord) == 64);

std::uint64_t checksum_of(const TokenHead& head, const TokenRecord& record) {
  Checksum sum;
  sum.add(&head, sizeof head);
  sum.add(&record, offsetof(TokenRecord, self));
  return sum.value();
}

std::uint32_t bytes_per_id(std::uint64_t vocabulary) { return vocabulary <= 256 ? 1 : vocabulary <= 65536 ? 2 : 4; }

// ---- writing -----------------------------------------------------------------------------------------------------------

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
  TextEncoder(const Tokenizer& tokenizer, TokenWriter& into, const FieldWords& words)
      : tokenizer_(tokenizer), into_(into), words_(words) {}

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
      throw DataError(concat(piece.file.path.string(), ": ", summary(flaws_), not_text_hint(piece.file.path),
                             "; a model trained with ", called(words_, "tokenizer"), " bytes reads anything"));
  }

  const Tokenizer& tokenizer_;
  TokenWriter& into_;
  const FieldWords& words_;
  std::vector<std::int32_t> ids_;
  TextFlaws flaws_;
};

/// Tokenises; `tokenizer_sum` goes into the record. False: stopped, and `cache` is as it was.
bool write_token_file(const TextSources& sources, const Tokenizer& tokenizer, std::uint64_t tokenizer_sum,
                      const std::filesystem::path& cache, const Progress& progress) {
  TokenWriter writer(cache, tokenizer.vocabulary());
  TextEncoder encoder(tokenizer, writer, sources.words);
  const std::string why = concat(": the tokenizer (", tokenizer.kind(), ") needs them as a whole");
  const auto source = read_text(
      sources, progress, [&](const TextPiece& piece) { return encoder.take(piece); }, why);
  if (source) writer.finish(tokenizer_sum, sources, *source);
  return source.has_value();
}

// ---- reading -----------------------------------------------------------------------------------------------------------

template <class Stored>
void widen(const unsigned char* from, std::size_t count, std::int32_t* into) {
  for (std::size_t i = 0; i < count; ++i) {
    Stored id;
    std::memcpy(&id, from + i * sizeof(Stored), sizeof(Stored));
    into[i] = static_cast<std::int32_t>(id);
  }
}

void require_inside(std::uint64_t first, std::size_t count, std::uint64_t size) {
  require(first <= size && count <= size - first, "TokenFile::copy: ids ", first, " to ", first, " + ", count, " of ", size);
}

class MappedTokens final : public TokenFile {
 public:
  MappedTokens(InputFile file, const TokenHead& head, const TokenRecord& record, std::string history)
      : file_(std::move(file)), id_bytes_(head.id_bytes), record_(record), history_(std::move(history)) {
    const auto bytes = checked_size(file_.size());
    if (!bytes)
      throw DataError(concat(file_.path().string(), ": its ", file_.size(), " bytes are more than this platform can map"));
    mapping_ = system_files::map(file_.fd(), *bytes);
    if (mapping_ == nullptr)
      throw DataError(concat(file_.path().string(), ": cannot be mapped: ", std::generic_category().message(errno)));
  }
  ~MappedTokens() override { system_files::unmap(mapping_, static_cast<std::size_t>(file_.size())); }
  MappedTokens(const MappedTokens&) = delete;
  MappedTokens& operator=(const MappedTokens&) = delete;

  std::uint64_t size() const override { return record_.ids; }
  std::uint64_t source_bytes() const override { return record_.source_bytes; }
  std::uint64_t fingerprint() const override {
    const std::array<std::uint64_t, 3> parts{record_.payload, record_.source, record_.tokenizer};
    return checksum(parts.data(), sizeof parts);
  }
  const std::string& history() const override { return history_; }
  void copy(std::uint64_t first, std::size_t count, std::int32_t* into) const override {
    require_inside(first, count, size());
    file_.expect_same_size();  // reading a page past the end of a file would end the process
    const unsigned char* from = mapping_ + sizeof(TokenHead) + first * id_bytes_;
    if (id_bytes_ == 1) widen<std::uint8_t>(from, count, into);
    if (id_bytes_ == 2) widen<std::uint16_t>(from, count, into);
    if (id_bytes_ == 4) widen<std::uint32_t>(from, count, into);
  }

 private:
  InputFile file_;
  std::uint32_t id_bytes_;
  TokenRecord record_;
  std::string history_;
  const unsigned char* mapping_ = nullptr;
};

class TokensInMemory final : public TokenFile {
 public:
  TokensInMemory(std::vector<std::int32_t> ids, std::uint64_t source_bytes) : ids_(std::move(ids)), source_bytes_(source_bytes) {}
  std::uint64_t size() const override { return ids_.size(); }
  std::uint64_t source_bytes() const override { return source_bytes_; }
  std::uint64_t fingerprint() const override { return checksum(ids_.data(), ids_.size() * sizeof(ids_[0])); }
  const std::string& history() const override { return history_; }
  void copy(std::uint64_t first, std::size_t count, std::int32_t* into) const override {
    require_inside(first, count, size());
    std::copy_n(ids_.begin() + static_cast<std::ptrdiff_t>(first), count, into);
  }

 private:
  std::vector<std::int32_t> ids_;
  std::uint64_t source_bytes_;
  std::string history_ = "in memory";
};

/// An existing file that is whole: its parts agree with one another and its size with them.
struct Found {
  InputFile file;
  TokenHead head;
  TokenRecord record;
};

std::optional<std::uint64_t> expected_size(const TokenHead& head, const TokenRecord& record) {
  const auto payload = checked_mul(record.ids, head.id_bytes);
  return payload ? checked_add(*payload, sizeof(TokenHead) + sizeof(TokenRecord)) : std::nullopt;
}

Found opened(const std::filesystem::path& path) {
  Found found{InputFile(path), {}, {}};
  const std::uint64_t size = found.file.size();
  const auto bad = [&](const char* what) { throw DataError(concat(path.string(), ": ", what)); };
  if (size < sizeof(TokenHead) + sizeof(TokenRecord)) bad("it is too short");
  found.file.read(0, &found.head, sizeof(TokenHead));
  found.file.read(size - sizeof(TokenRecord), &found.record, sizeof(TokenRecord));
  if (std::memcmp(found.head.magic, TokenHead{}.magic, sizeof found.head.magic) != 0) bad("it is not a file of ids");
  if (found.head.version != TokenHead{}.version) bad("it is of another version of addnorm");
  if (found.record.self != checksum_of(found.head, found.record) || expected_size(found.head, found.record) != size ||
      found.head.id_bytes != bytes_per_id(found.record.vocabulary))
    bad("it was cut short or changed");
  return found;
}

/// Nothing: stopped.
std::optional<bool> ids_are_whole(const Found& found, const Progress& progress, double from) {
  std::string block;
  Checksum sum;
  const std::uint64_t end = found.file.size() - sizeof(TokenRecord);
  for (std::uint64_t at = sizeof(TokenHead); at < end; at += block.size()) {
    const double share = static_cast<double>(at) / static_cast<double>(end);
    if (progress && !progress(from + (1 - from) * share)) return std::nullopt;
    block.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kTokenBlock, end - at)));
    found.file.read(at, block.data(), block.size());
    sum.add(block.data(), block.size());
  }
  return sum.value() == found.record.payload;
}

/// Why `found` cannot be taken; empty: it can. Nothing: stopped.
std::optional<std::string> difference(const Found& found, const TextSources& sources, std::uint64_t tokenizer,
                                      const Progress& progress) {
  if (found.record.tokenizer != tokenizer) return "the tokenizer is another one";
  if (found.record.names != checksum_of_names(sources) || found.record.source_bytes != sources.bytes())
    return "the files are others";
  const auto all = [](const TextPiece& piece) { return piece.text.size(); };
  const auto source = read_text(sources, progress, all, "", 0, 0.5);
  if (!source) return std::nullopt;
  if (*source != found.record.source) return "the text has changed";
  const auto whole = ids_are_whole(found, progress, 0.5);
  if (!whole) return std::nullopt;
  return *whole ? "" : "it was changed";
}

std::unique_ptr<TokenFile> mapped(Found found, std::string history) {
  return std::make_unique<MappedTokens>(std::move(found.file), found.head, found.record, std::move(history));
}

}  // namespace

std::unique_ptr<TokenFile> token_file(const TextSources& sources, const Tokenizer& tokenizer, const std::filesystem::path& cache,
                                      const Progress& progress) {
  if (sources.bytes() == 0) throw DataError(concat(sources.summary(), ": the text is empty"));
  require(tokenizer.vocabulary() <= std::numeric_limits<std::int32_t>::max(), "token_file: a vocabulary of ",
          tokenizer.vocabulary());
  const std::string tokenizer_text = tokenizer.to_json();
  const std::uint64_t tokenizer_sum = checksum(tokenizer_text.data(), tokenizer_text.size());
  std::string why = concat("made: ", cache.string());
  if (is_there(cache)) {
    try {
      Found found = opened(cache);
      const auto differs = difference(found, sources, tokenizer_sum, progress);
      if (!differs) return nullptr;
      if (differs->empty()) return mapped(std::move(found), concat("read from ", cache.string()));
      why = concat("made anew: ", cache.string(), ": ", *differs);
    } catch (const DataError& broken) {
      why = concat("made anew: ", broken.what());
    }
  }
  if (!write_token_file(sources, tokenizer, tokenizer_sum, cache, progress)) return nullptr;
  return mapped(opened(cache), std::move(why));
}

std::unique_ptr<TokenFile> token_memory(std::vector<std::int32_t> ids, std::uint64_t source_bytes) {
  return std::make_unique<TokensInMemory>(std::move(ids), source_bytes);
}

}  // namespace addnorm
