#include "data/tokenizer/vocabulary.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace addnorm {

bool Vocabulary::add(std::string_view text, std::int32_t id) {
  if (2 * (size() + 1) > slots_.size()) make_slots(std::max<std::size_t>(64, 2 * slots_.size()));
  std::uint32_t& slot = slots_[slot_of(text)];
  if (slot != 0) return false;
  entries_.push_back({static_cast<std::uint32_t>(texts_.size()), static_cast<std::uint32_t>(text.size()), id});
  texts_ += text;
  slot = static_cast<std::uint32_t>(size());
  return true;
}

void Vocabulary::sort() {
  const auto key = [](const Entry& entry) { return std::tuple(entry.id, entry.first, entry.size); };  // empty texts lie nowhere
  if (std::ranges::is_sorted(entries_, {}, key)) return;
  std::ranges::sort(entries_, {}, key);
  make_slots(slots_.size());
}

std::size_t Vocabulary::slot_of(std::string_view text) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = std::hash<std::string_view>()(text) & mask;
  while (slots_[at] != 0 && text_of(entries_[slots_[at] - 1]) != text) at = (at + 1) & mask;
  return at;
}

void Vocabulary::make_slots(std::size_t count) {
  slots_.assign(count, 0);
  for (std::size_t i = 0; i < size(); ++i) slots_[slot_of(text_of(entries_[i]))] = static_cast<std::uint32_t>(i + 1);
}

std::optional<std::int32_t> Vocabulary::id_of(std::string_view text) const {
  if (empty()) return std::nullopt;
  const std::uint32_t slot = slots_[slot_of(text)];
  if (slot == 0) return std::nullopt;
  return entries_[slot - 1].id;
}

std::optional<std::string_view> Vocabulary::text_of(std::int32_t id) const {
  const auto found = std::ranges::lower_bound(entries_, id, {}, &Entry::id);
  if (found == entries_.end() || found->id != id) return std::nullopt;
  return text_of(*found);
}

bool operator==(const Vocabulary& a, const Vocabulary& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return false;
  return true;
}

}  // namespace addnorm
