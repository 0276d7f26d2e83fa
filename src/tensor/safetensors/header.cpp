#include "tensor/safetensors/header.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "addnorm/core/checked.h"
#include "addnorm/core/error.h"

namespace addnorm::safetensors {

namespace {
constexpr std::size_t kChecksumDigits = 16;
}

// Not by concat: its stream cuts the text when memory runs out, which is good enough for messages only.
std::string checksum_key(std::string_view tensor) { return std::string(kChecksumKey).append(":").append(tensor); }

std::size_t find_own_checksum(std::string_view header) {
  const std::string key = std::string("\"").append(kChecksumKey).append("\":\"");
  const std::size_t found = header.find(key);
  if (found == std::string_view::npos || header.size() - found - key.size() < kChecksumDigits) return std::string_view::npos;
  return found + key.size();
}

std::string without_own_checksum(std::string header) {
  const std::size_t digits = find_own_checksum(header);
  if (digits != std::string::npos) header.replace(digits, kChecksumDigits, kChecksumDigits, '0');
  return header;
}

Header::Header(Table table, std::uint64_t data_bytes) : table_(std::move(table)) {
  // Order of the data; tensors of no bytes stay in the order of the header. Most files have it.
  const auto place = [](const Entry& e) { return std::tuple(e.begin, e.end, e.name.begin); };
  if (!std::ranges::is_sorted(table_.entries, {}, place)) std::ranges::sort(table_.entries, {}, place);
  sort_names();
  for (std::size_t i = 0; i < size(); ++i) check_sizes(i);
  check_coverage(data_bytes);
}

Shape Header::shape(std::size_t i) const {
  std::array<std::size_t, Shape::kMaxRank> sizes{};
  for (std::size_t axis = 0; axis < entry(i).rank; ++axis)
    sizes[axis] = static_cast<std::size_t>(table_.sizes[entry(i).first_size + axis]);  // check_sizes has seen that it fits
  return Shape(std::span(sizes.data(), entry(i).rank));
}

void Header::check_sizes(std::size_t i) const {
  const Entry& e = entry(i);
  const ElementType& type = kElementTypes[e.type];
  const auto fail = [&](const auto&... parts) {
    throw DataError(concat(table_.where, "tensor ", in_quotes(name(i)), ": ", parts...));
  };
  std::optional<std::uint64_t> product = 1;  // overflow counts even when a later axis is 0
  bool fits = true;
  for (std::size_t axis = 0; axis < e.rank && product; ++axis) {
    product = checked_mul(*product, table_.sizes[e.first_size + axis]);
    fits = fits && checked_size(table_.sizes[e.first_size + axis]);
  }
  if (!product) fail("its shape has more elements than 64 bits can count");
  if (!fits || !checked_size(*product)) fail("its shape has more elements than this platform can count");
  const auto bits = checked_mul(*product, type.bits);
  if (!bits) fail("shape ", shape(i), " of ", type.name, " has more bits than 64 bits can count");
  if (*bits % 8 != 0) fail("shape ", shape(i), " of ", type.name, " does not fill whole bytes");
  if (e.begin > e.end) fail("data_offsets [", e.begin, ", ", e.end, "] run backwards");
  if (e.end - e.begin != *bits / 8)
    fail("data_offsets [", e.begin, ", ", e.end, "] hold ", e.end - e.begin, " bytes, shape ", shape(i), " of ", type.name,
         " needs ", *bits / 8);
  if (!checked_size(*bits / 8)) fail("its ", *bits / 8, " bytes are more than this platform can hold");
}

void Header::check_coverage(std::uint64_t data_bytes) const {
  std::uint64_t covered = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    const Entry& e = entry(i);
    if (e.begin != covered)
      throw DataError(concat(table_.where, "tensor ", in_quotes(name(i)), ": its data begins at ", e.begin, ", expected ",
                             covered, e.begin < covered ? ": it overlaps " : ": there is a hole after ",
                             i == 0 ? "the header" : concat("tensor ", in_quotes(name(i - 1)))));
    if (e.end > data_bytes)
      throw DataError(concat(table_.where, "tensor ", in_quotes(name(i)), ": its data ends at ", e.end, ", the file holds ",
                             data_bytes, " bytes of data; it is truncated"));
    covered = e.end;
  }
  if (covered != data_bytes)
    throw DataError(concat(table_.where, "the tensors end at byte ", covered, " of the data, the file holds ", data_bytes, ": ",
                           data_bytes - covered, " bytes belong to no tensor"));
}

void Header::sort_names() {
  if (const auto twice = by_name_.sort(size(), name_of()))
    throw DataError(concat(table_.where, "tensor ", in_quotes(name(*twice)), " is in the header twice"));
  if (const auto twice = by_key_.sort(metadata_size(), key_of()))
    throw DataError(concat(table_.where, "__metadata__ has the key ", in_quotes(key_of()(*twice)), " twice"));
}

std::optional<std::size_t> Header::find(std::string_view wanted) const { return by_name_.find(wanted, name_of()); }

std::optional<std::string_view> Header::find_metadata(std::string_view wanted) const {
  const auto found = by_key_.find(wanted, key_of());
  return found ? std::optional(table_.view(table_.metadata[*found].value())) : std::nullopt;
}

}  // namespace addnorm::safetensors
