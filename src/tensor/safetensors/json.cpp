// The header's JSON -> Table. Read by descent, as the format nests: what nests deeper is refused where it begins.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

#include "addnorm/core/error.h"
#include "core/json/reader.h"
#include "core/printable.h"
#include "core/utf8.h"
#include "tensor/safetensors/header.h"

namespace addnorm::safetensors {

std::ostream& operator<<(std::ostream& out, Quoted quoted) {
  constexpr std::size_t kShown = 60;
  const std::string_view text = quoted.text;
  out << "'";
  std::size_t at = 0;
  while (at < text.size()) {
    const Utf8Char character = utf8_front(text.substr(at));
    const std::size_t size = std::max(1u, character.length);
    if (at + size > kShown) break;
    if (character.length > 0 && is_printable(character.code))
      out << text.substr(at, size);
    else
      out << written_out(character, text[at]);
    at += size;
  }
  if (at == text.size()) return out << "'";
  return out << "...' (" << text.size() << " bytes)";
}

std::string in_quotes(std::string_view text) { return concat(Quoted{text}); }

namespace {

bool has_control_characters(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string known_types() {
  std::string out;
  for (const ElementType& type : kElementTypes) out.append(out.empty() ? "" : ", ").append(type.name);
  return out;
}

class HeaderText final : JsonText {
 public:
  HeaderText(std::string_view json, Table& table) : JsonText(json), table_(table) {}

  void document() {
    check_first_and_forbidden_bytes();
    bool metadata_seen = false;
    members(decoded_, [&](std::string_view name) {
      if (name != kMetadataKey) return tensor(name);
      if (metadata_seen) refuse("the header has __metadata__ twice");
      metadata_seen = true;
      metadata();
    });
    spaces();
    expect_end();
  }

 private:
  void check_first_and_forbidden_bytes() {
    spaces();
    if (ended()) refuse("the header is empty");
    if (peek() != '{') refuse("the header starts with ", in_quotes(text().substr(at(), 1)), ", '{' is needed");
    const std::size_t nul = text().find('\0');
    if (nul != std::string_view::npos) refuse("the header is not JSON at its byte ", nul, ": a NUL byte");
  }

  void metadata() {
    if (peek() != '{') refuse("__metadata__ is ", found(), ", an object of strings is needed");
    members(decoded_, [&](std::string_view key) {
      MetadataItem& item = table_.metadata.emplace_back(MetadataItem{.key = keep(key)});
      if (peek() != '"') refuse("__metadata__ ", in_quotes(table_.view(item.key)), " is ", found(), ", only strings are allowed");
      item.value_size = keep(string(decoded_)).size;
    });
  }

  void tensor(std::string_view name) {
    table_.entries.push_back({.name = keep(name), .first_size = static_cast<std::uint32_t>(table_.sizes.size())});
    if (has_control_characters(name)) refuse_tensor("the name contains control characters");
    if (peek() != '{') refuse_tensor("its entry is ", found(), ", an object with dtype, shape, data_offsets is needed");
    bool type = false, shape = false, offsets = false;
    members(decoded_, [&](std::string_view field) {
      if (field == "dtype") return once(type, "dtype"), read_type();
      if (field == "shape") return once(shape, "shape"), read_shape();
      if (field == "data_offsets") return once(offsets, "data_offsets"), read_offsets();
      refuse_tensor("unknown field ", in_quotes(field), "; the format knows dtype, shape, data_offsets");
    });
    if (!type) refuse_tensor("dtype is missing");
    if (!shape) refuse_tensor("shape is missing");
    if (!offsets) refuse_tensor("data_offsets is missing");
  }

  void once(bool& seen, const char* field) const {
    if (seen) refuse_tensor(field, " is given twice");
    seen = true;
  }

  void read_type() {
    if (peek() != '"') refuse_tensor("dtype is ", found(), ", a string such as \"F32\" is needed");
    const std::string_view name = string(decoded_);
    const auto* type = std::ranges::find(kElementTypes, name, &ElementType::name);
    if (type == std::end(kElementTypes)) refuse_tensor("dtype is ", in_quotes(name), "; the format knows ", known_types());
    entry().type = static_cast<std::uint8_t>(type - kElementTypes);
  }

  void read_shape() {
    if (peek() != '[') refuse_tensor("shape is ", found(), ", an array is needed");
    items([&] {
      const std::uint64_t size = whole_number("shape");
      if (entry().rank == Shape::kMaxRank)
        refuse_tensor("shape has more than ", Shape::kMaxRank, " axes, which we do not support");
      table_.sizes.push_back(size);
      ++entry().rank;
    });
  }

  void read_offsets() {
    if (peek() != '[') refuse_tensor("data_offsets is ", found(), ", [begin, end] is needed");
    std::size_t count = 0;
    items([&] {
      const std::uint64_t offset = whole_number("data_offsets");
      if (count == 0) entry().begin = offset;
      if (count == 1) entry().end = offset;
      ++count;
    });
    if (count != 2) refuse_tensor("data_offsets has ", count, " numbers, [begin, end] is needed");
  }

  std::uint64_t whole_number(const char* field) {
    const std::size_t begin = at();
    std::uint64_t value = 0;
    if (at_number()) {
      const std::string_view digits = number().text;
      const char* const end = digits.data() + digits.size();
      const auto read = std::from_chars(digits.data(), end, value);  // takes no sign, stops at a point or exponent
      if (read.ec == std::errc() && read.ptr == end) return value;
    }
    go(begin);
    refuse_tensor(field, " contains ", found(), ", whole numbers from 0 to 2^64-1 are needed");
  }

  /// What stands here and should not.
  std::string found() {
    if (peek() == '{') return "an object";
    if (peek() == '[') return "an array";
    if (peek() == '"') return concat("the string ", in_quotes(string(decoded_)));
    for (const char* word : {"null", "true", "false"})
      if (took(word)) return word;
    if (!at_number()) fail("a value is expected");
    const std::string_view digits = number().text;
    constexpr std::size_t kLongest = std::numeric_limits<std::uint64_t>::digits10 + 1;
    return concat("the number ", digits.size() <= kLongest ? std::string(digits) : in_quotes(digits));
  }

  Text keep(std::string_view text) {
    const Text kept{static_cast<std::uint32_t>(table_.text.size()), static_cast<std::uint32_t>(text.size())};
    table_.text += text;
    return kept;
  }
  Entry& entry() { return table_.entries.back(); }

  [[noreturn]] void fail(const std::string& what) const override {
    refuse("the header is not JSON at its byte ", at(), ": ", what, ended() ? "; the text ends" : "");
  }
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    throw DataError(concat(table_.where, parts...));
  }
  template <class... Parts>
  [[noreturn]] void refuse_tensor(const Parts&... parts) const {
    refuse("tensor ", in_quotes(table_.view(table_.entries.back().name)), ": ", parts...);
  }

  Table& table_;
  std::string decoded_;
};

}  // namespace

Table parse_table(std::string_view json, std::string where) {
  Table table;
  table.where = std::move(where);
  table.text.reserve(json.size());  // never more; pages that stay untouched cost nothing
  HeaderText(json, table).document();
  return table;
}

}  // namespace addnorm::safetensors
