#include "data/tokenizer/spec.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <tuple>

namespace addnorm {
namespace {

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out += '"';
}

const char* truth(bool value) { return value ? "true" : "false"; }

template <class... Parts>
void put(std::string& out, const Parts&... parts) {
  (out.append(std::string_view(parts)), ...);
}

std::string added_of(const TokenizerSpec& spec) {
  std::string out = "[";
  for (const AddedToken& token : spec.added) {
    put(out, out.size() > 1 ? ",\n    " : "\n    ", R"({"id":)", std::to_string(token.id), R"(,"content":)",
        json_text(token.content));
    put(out, R"(,"single_word":)", truth(token.single_word), R"(,"lstrip":)", truth(token.lstrip), R"(,"rstrip":)",
        truth(token.rstrip));
    put(out, R"(,"normalized":)", truth(token.normalized), R"(,"special":)", truth(token.special), "}");
  }
  return out += spec.added.empty() ? "]" : "\n  ]";
}

std::string vocabulary_json(const TokenizerSpec& spec) {
  std::string out = "{";
  for (const auto& [token, id] : spec.vocabulary)
    put(out, out.size() > 1 ? ",\n      " : "\n      ", json_text(token), ":", std::to_string(id));
  return out += spec.vocabulary.empty() ? "}" : "\n    }";
}

// As pairs: tokens may have spaces in them.
std::string merges_of(const TokenizerSpec& spec) {
  const auto token = [&](std::int32_t id) { return json_text(*spec.vocabulary.text_of(id)); };
  std::string out = "[";
  for (const auto& [left, right] : spec.merges)
    put(out, out.size() > 1 ? ",\n      [" : "\n      [", token(left), ",", token(right), "]");
  return out += spec.merges.empty() ? "]" : "\n    ]";
}

std::string model_of(const TokenizerSpec& spec) {
  std::string out;
  put(out, R"({"type":)", json_text(spec.model));
  if (spec.model == "WordPiece") {
    put(out, R"(,"unk_token":)", json_text(spec.unknown), R"(,"continuing_subword_prefix":)", json_text(spec.prefix));
    put(out, R"(,"max_input_chars_per_word":)", std::to_string(spec.longest_word), ",\n    \"vocab\":", vocabulary_json(spec),
        "}");
    return out;
  }
  put(out, R"(,"dropout":null,"unk_token":)", spec.unknown.empty() ? "null" : json_text(spec.unknown));
  put(out, R"(,"continuing_subword_prefix":null,"end_of_word_suffix":null,"fuse_unk":)", truth(spec.fuse_unknown));
  put(out, R"(,"byte_fallback":)", truth(spec.byte_fallback), R"(,"ignore_merges":)", truth(spec.ignore_merges));
  put(out, ",\n    \"vocab\":", vocabulary_json(spec), ",\n    \"merges\":", merges_of(spec), "}");
  return out;
}

}  // namespace

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
  // By size too: an empty text begins where the next one does.
  const auto key = [](const Entry& entry) { return std::tuple(entry.id, entry.first, entry.size); };
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

std::string json_of(const TokenizerSpec& spec) {
  std::string out;
  put(out, "{\n  \"version\":\"1.0\",\n  \"truncation\":null,\n  \"padding\":", spec.padding);
  put(out, ",\n  \"added_tokens\":", added_of(spec), ",\n  \"normalizer\":", spec.normalizer);
  put(out, ",\n  \"pre_tokenizer\":", spec.pre_tokenizer, ",\n  \"post_processor\":", spec.post_processor);
  put(out, ",\n  \"decoder\":", spec.decoder, ",\n  \"model\":", model_of(spec), "\n}\n");
  return out;
}

}  // namespace addnorm
