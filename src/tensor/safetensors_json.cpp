// The header's JSON as events (nlohmann's SAX parser: iterative, exact u64, checks UTF-8) -> Table.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "addnorm/core/error.h"
#include "tensor/safetensors_header.h"

namespace addnorm::safetensors {
namespace {

/// Bytes of the UTF-8 character that the text starts with; 0 when it starts with none (RFC 3629: shortest form, no surrogates,
/// nothing beyond U+10FFFF).
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1, 0x80, 0xbf) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool second = follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf);
    return second && follows(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (first < 0xf0 || first > 0xf4) return 0;
  const bool second = follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
  return second && follows(2, 0x80, 0xbf) && follows(3, 0x80, 0xbf) ? 4 : 0;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Quoted quoted) {
  constexpr std::size_t kShown = 60;
  constexpr char kHex[] = "0123456789abcdef";
  const std::string_view text = quoted.text;
  out << "'";
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t size = character_bytes(text.substr(at));
    if (at + std::max<std::size_t>(size, 1) > kShown) break;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (size == 0 || byte < 0x20 || byte == 0x7f)
      out << "\\x" << kHex[byte >> 4] << kHex[byte & 15];
    else
      out << text.substr(at, size);
    at += std::max<std::size_t>(size, 1);
  }
  if (at == text.size()) return out << "'";
  return out << "...' (" << text.size() << " bytes)";
}

std::string in_quotes(std::string_view text) { return concat(Quoted{text}); }

namespace {

bool has_control_characters(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

class Events {
 public:
  explicit Events(Table& table) : table_(table) {}

  bool start_object(std::size_t) {
    switch (at_) {
      case At::document:
        return go(At::root);
      case At::metadata_value:
        return go(At::metadata);
      case At::tensor_value:
        return go(At::tensor);
      default:
        unexpected("an object");
    }
  }
  bool end_object() {
    if (at_ == At::tensor) finish_tensor();
    return go(At::root);
  }
  bool start_array(std::size_t) {
    switch (at_) {
      case At::shape_value:
        return go(At::shape);
      case At::offsets_value:
        return go(At::offsets);
      default:
        unexpected("an array");
    }
  }
  bool end_array() {
    if (at_ == At::offsets && offsets_ != 2) fail("data_offsets has ", offsets_, " numbers, [begin, end] is needed");
    return go(At::tensor);
  }
  bool key(std::string& key) {
    if (at_ == At::root) return key == kMetadataKey ? start_metadata() : start_tensor(key);
    if (at_ == At::metadata) {
      table_.metadata.push_back({.key = keep(key)});
      return go(At::text_value);
    }
    return start_field(key);
  }
  bool string(std::string& value) {
    if (at_ == At::text_value) {
      table_.metadata.back().value_size = keep(value).size;
      return go(At::metadata);
    }
    if (at_ != At::type_value) unexpected(concat("the string ", in_quotes(value)));
    const auto* type = std::ranges::find(kElementTypes, value, &ElementType::name);
    if (type == std::end(kElementTypes)) fail("dtype is ", in_quotes(value), "; the format knows ", known_types());
    entry().type = static_cast<std::uint8_t>(type - kElementTypes);
    return go(At::tensor);
  }
  bool number_unsigned(std::uint64_t value) {
    if (at_ == At::shape) return add_size(value);
    if (at_ != At::offsets) unexpected(concat("the number ", value));
    if (offsets_ == 0) entry().begin = value;
    if (offsets_ == 1) entry().end = value;
    ++offsets_;
    return true;
  }
  bool number_integer(std::int64_t value) { unexpected(concat("the number ", value)); }
  bool number_float(double, const std::string& raw) { unexpected(concat("the number ", in_quotes(raw))); }
  bool boolean(bool value) { unexpected(value ? "true" : "false"); }
  bool null() { unexpected("null"); }
  bool binary(nlohmann::json::binary_t&) { unexpected("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
    std::string_view what = error.what();  // "[id] parse error at line 1, column 2: reason; last read: '...'"
    what = what.substr(0, what.find("; last read"));
    const auto colon = what.find(": ");
    if (colon != std::string_view::npos) what.remove_prefix(colon + 2);
    throw DataError(concat(table_.where, "the header is not JSON at its byte ", position, ": ", what));
  }

 private:
  // What the next event belongs to: a place inside something, or the value of a key that was just read.
  enum class At {
    document,
    root,
    metadata_value,
    metadata,
    text_value,
    tensor_value,
    tensor,
    type_value,
    shape_value,
    shape,
    offsets_value,
    offsets
  };
  enum Field : unsigned { kType = 1, kShape = 2, kOffsets = 4 };

  bool go(At next) {
    at_ = next;
    return true;
  }

  bool start_metadata() {
    if (metadata_seen_) throw DataError(concat(table_.where, "the header has __metadata__ twice"));
    metadata_seen_ = true;
    return go(At::metadata_value);
  }

  bool start_tensor(const std::string& name) {
    table_.entries.push_back({.name = keep(name), .first_size = static_cast<std::uint32_t>(table_.sizes.size())});
    fields_ = 0;
    offsets_ = 0;
    if (has_control_characters(name)) fail("the name contains control characters");
    return go(At::tensor_value);
  }

  bool start_field(const std::string& name) {
    if (name == "dtype") return start_field(kType, At::type_value, name);
    if (name == "shape") return start_field(kShape, At::shape_value, name);
    if (name == "data_offsets") return start_field(kOffsets, At::offsets_value, name);
    fail("unknown field ", in_quotes(name), "; the format knows dtype, shape, data_offsets");
  }
  bool start_field(Field field, At next, const std::string& name) {
    if (fields_ & field) fail(name, " is given twice");
    fields_ |= field;
    return go(next);
  }

  void finish_tensor() {
    if (!(fields_ & kType)) fail("dtype is missing");
    if (!(fields_ & kShape)) fail("shape is missing");
    if (!(fields_ & kOffsets)) fail("data_offsets is missing");
  }

  bool add_size(std::uint64_t size) {
    if (entry().rank == Shape::kMaxRank) fail("shape has more than ", Shape::kMaxRank, " axes, which we do not support");
    table_.sizes.push_back(size);
    ++entry().rank;
    return true;
  }

  Text keep(const std::string& text) {
    const Text kept{static_cast<std::uint32_t>(table_.text.size()), static_cast<std::uint32_t>(text.size())};
    table_.text += text;
    return kept;
  }
  Entry& entry() { return table_.entries.back(); }

  static std::string known_types() {
    std::string out;
    for (const ElementType& type : kElementTypes) out.append(out.empty() ? "" : ", ").append(type.name);
    return out;
  }

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw DataError(concat(table_.where, "tensor ", in_quotes(table_.view(table_.entries.back().name)), ": ", parts...));
  }
  [[noreturn]] void unexpected(const std::string& got) const {
    switch (at_) {
      case At::document:
        throw DataError(concat(table_.where, "the header is ", got, ", an object is needed"));
      case At::metadata_value:
        throw DataError(concat(table_.where, "__metadata__ is ", got, ", an object of strings is needed"));
      case At::text_value:
        throw DataError(concat(table_.where, "__metadata__ ", in_quotes(table_.view(table_.metadata.back().key)), " is ", got,
                               ", only strings are allowed"));
      case At::tensor_value:
        fail("its entry is ", got, ", an object with dtype, shape, data_offsets is needed");
      case At::type_value:
        fail("dtype is ", got, ", a string such as \"F32\" is needed");
      case At::shape_value:
        fail("shape is ", got, ", an array is needed");
      case At::shape:
        fail("shape contains ", got, ", whole numbers from 0 to 2^64-1 are needed");
      case At::offsets_value:
        fail("data_offsets is ", got, ", [begin, end] is needed");
      default:
        fail("data_offsets contains ", got, ", whole numbers from 0 to 2^64-1 are needed");
    }
  }

  Table& table_;
  At at_ = At::document;
  unsigned fields_ = 0;
  unsigned offsets_ = 0;
  bool metadata_seen_ = false;
};

// The parser would skip a byte order mark, and take a NUL byte for the end of the text.
void check_first_and_forbidden_bytes(std::string_view json, const std::string& where) {
  const auto start = json.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) throw DataError(concat(where, "the header is empty"));
  if (json[start] != '{')
    throw DataError(concat(where, "the header starts with ", in_quotes(json.substr(start, 1)), ", '{' is needed"));
  const auto nul = json.find('\0');
  if (nul != std::string_view::npos) throw DataError(concat(where, "the header is not JSON at its byte ", nul, ": a NUL byte"));
}

}  // namespace

Table parse_table(std::string_view json, std::string where) {
  Table table;
  table.where = std::move(where);
  check_first_and_forbidden_bytes(json, table.where);
  table.text.reserve(json.size());  // never more; pages that stay untouched cost nothing
  Events events(table);
  nlohmann::json::sax_parse(json.begin(), json.end(), &events);
  return table;
}

}  // namespace addnorm::safetensors
