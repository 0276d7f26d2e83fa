#include "tensor/safetensors/names.h"

#include <algorithm>
#include <span>

namespace addnorm::safetensors {
namespace {

using Item = NameOrder::Item;
constexpr std::size_t kKeyBytes = 7;

/// The first seven bytes, and in the last byte how many there are, or one more: so "a" stands before "a\0", and two names of one
/// key are equal, or both go on after it.
std::uint64_t key_of(std::string_view rest) {
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < kKeyBytes; ++i) key = key << 8 | (i < rest.size() ? static_cast<unsigned char>(rest[i]) : 0u);
  return key << 8 | std::min(rest.size(), kKeyBytes + 1);
}
bool goes_on(std::uint64_t key) { return (key & 0xFF) > kKeyBytes; }

/// How many bytes all names have in common, `same` or more.
std::size_t common_bytes(std::span<const Item> items, std::size_t same, const NameOf& name) {
  std::string_view common = name(items.front().number);
  for (const Item& item : items) {
    if (common.size() == same) break;
    const std::string_view other = name(item.number);
    const auto parted = std::mismatch(common.begin() + same, common.end(), other.begin() + same, other.end());
    common = common.substr(0, static_cast<std::size_t>(parted.first - common.begin()));
  }
  return common.size();
}

/// By the names themselves.
std::optional<std::uint32_t> sort_whole(std::span<Item> items, const NameOf& name) {
  const auto whole = [&](const Item& item) { return name(item.number); };
  std::ranges::sort(items, {}, whole);
  const auto twice = std::ranges::adjacent_find(items, {}, whole);
  return twice == items.end() ? std::nullopt : std::optional(twice->number);
}

/// Sorts names by what follows their first `same` bytes, which are equal. Recurses for names with the same key, at most `levels`
/// deep: the names of a hostile file may agree for so long that the stack would overflow.
std::optional<std::uint32_t> sort_after(std::span<Item> items, std::size_t same, const NameOf& name, int levels = 32) {
  if (levels == 0) return sort_whole(items, name);
  same = common_bytes(items, same, name);
  for (Item& item : items) {
    const std::uint64_t key = key_of(name(item.number).substr(same));
    item.high = static_cast<std::uint32_t>(key >> 32);
    item.low = static_cast<std::uint32_t>(key);
  }
  std::ranges::sort(items, [](const Item& a, const Item& b) { return a.key() < b.key(); });  // a projection is not inlined
  for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    const std::uint64_t key = items[begin].key();
    for (end = begin + 1; end < items.size() && items[end].key() == key;) ++end;
    if (end - begin == 1) continue;
    if (!goes_on(key)) return items[begin].number;
    if (const auto twice = sort_after(items.subspan(begin, end - begin), same + kKeyBytes, name, levels - 1)) return twice;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> NameOrder::sort(std::size_t count, const NameOf& name) {
  items_.resize(count);
  for (std::size_t i = 0; i < count; ++i) items_[i].number = static_cast<std::uint32_t>(i);
  return count == 0 ? std::nullopt : sort_after(items_, 0, name);
}

std::optional<std::uint32_t> NameOrder::find(std::string_view wanted, const NameOf& name) const {
  const auto found = std::ranges::lower_bound(items_, wanted, {}, [&](const Item& item) { return name(item.number); });
  if (found == items_.end() || name(found->number) != wanted) return std::nullopt;
  return found->number;
}

}  // namespace addnorm::safetensors
