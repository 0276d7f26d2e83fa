// The header of a safetensors file, parsed, checked and kept compactly (a 99 MB header may name a million tensors).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/core/shape.h"
#include "tensor/safetensors/names.h"

namespace addnorm::safetensors {

inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
inline constexpr std::string_view kMetadataKey = "__metadata__";
/// Metadata: the checksum of the header, taken with zeros in its own place; with ":<name>" appended, that of a tensor's bytes.
inline constexpr std::string_view kChecksumKey = "addnorm.checksum";
std::string checksum_key(std::string_view tensor);
/// Where in the text of a header the 16 digits of its own checksum are; npos: nowhere. Quotes inside of JSON strings have a
/// backslash before them, so this key is found only where it is a key.
std::size_t find_own_checksum(std::string_view header);
/// The text with zeros there: what the checksum is taken of.
std::string without_own_checksum(std::string header);

/// The element types of the format. Widths are in bits: some are narrower than a byte.
struct ElementType {
  std::string_view name;
  unsigned bits;
};
inline constexpr ElementType kElementTypes[] = {
    {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
    {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
    {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
    {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}};

/// Text from a file, fit for a one-line message: streams quoted, cut after 60 bytes, what is not printable written
/// out (core/printable.h). Not a string, for checks that mostly pass: see Bytes in core/figures.h.
struct Quoted {
  std::string_view text;
};
std::ostream& operator<<(std::ostream& out, Quoted quoted);
/// The same as a string, for messages that are being written anyway.
std::string in_quotes(std::string_view text);

/// A piece of the text pool. A header has at most 100 MB, so 32 bits hold any position.
struct Text {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
};

struct Entry {
  std::uint64_t begin = 0, end = 0;  ///< in the data, which starts after the header
  Text name;
  std::uint32_t first_size = 0;  ///< of the shape, in the pool of sizes
  std::uint8_t rank = 0;
  std::uint8_t type = 0;  ///< index into kElementTypes
};

/// The value follows its key in the text pool.
struct MetadataItem {
  Text key;
  std::uint32_t value_size = 0;
  Text value() const { return {key.begin + key.size, value_size}; }
};

/// What the JSON says, before it is known to make sense. `where` starts every message.
struct Table {
  std::string where;
  std::string text;                  // all names, keys and values
  std::vector<std::uint64_t> sizes;  // all shapes
  std::vector<Entry> entries;
  std::deque<MetadataItem> metadata;  // there may be millions; a vector would hold them twice while it grows

  std::string_view view(Text piece) const { return std::string_view(text).substr(piece.begin, piece.size); }
};

/// JSON -> Table. Refuses what is not an object of tensors and metadata, keys given twice (inside a tensor and at
/// `__metadata__`; names are checked with all of them at hand, in Header), and numbers that are not exact u64. Throws DataError.
Table parse_table(std::string_view json, std::string where);

class Header {
 public:
  /// Checks: every tensor's bytes match its shape and type, and together they cover exactly the `data_bytes` bytes after the
  /// header, without hole or overlap; no name is given twice. Throws DataError.
  Header(Table table, std::uint64_t data_bytes);

  std::size_t size() const { return table_.entries.size(); }
  /// Tensor i in the order of the data.
  const Entry& entry(std::size_t i) const { return table_.entries[i]; }
  std::string_view name(std::size_t i) const { return table_.view(entry(i).name); }
  Shape shape(std::size_t i) const;
  std::optional<std::size_t> find(std::string_view name) const;

  std::size_t metadata_size() const { return table_.metadata.size(); }
  /// Item i in the order of the keys.
  std::string_view metadata_key(std::size_t i) const { return table_.view(table_.metadata[by_key_[i]].key); }
  std::string_view metadata_value(std::size_t i) const { return table_.view(table_.metadata[by_key_[i]].value()); }
  std::optional<std::string_view> find_metadata(std::string_view key) const;

 private:
  void check_sizes(std::size_t i) const;
  void check_coverage(std::uint64_t data_bytes) const;
  void sort_names();
  auto name_of() const {
    return [this](std::uint32_t i) { return name(i); };
  }
  auto key_of() const {
    return [this](std::uint32_t i) { return table_.view(table_.metadata[i].key); };
  }

  Table table_;
  NameOrder by_name_, by_key_;  // of entries, of metadata
};

}  // namespace addnorm::safetensors
