#include "data/tokenizer/models.h"

#include <algorithm>
#include <bit>
#include <queue>
#include <tuple>

#include "addnorm/core/error.h"
#include "core/utf8.h"
#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/pieces.h"

namespace addnorm {
namespace {

constexpr std::size_t kFew = 48;  // symbols that are quicker to look through than to keep in a heap

bool goes_on(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

MergeTable::MergeTable(const TokenizerSpec& spec) {
  const std::size_t size = std::bit_ceil(2 * spec.merges.size() + 2);
  slots_.resize(size);
  mask_ = size - 1;
  shift_ = 64 - std::countr_zero(size);
  for (std::size_t rank = 0; rank < spec.merges.size(); ++rank) {
    const std::uint64_t key = key_of(spec.merges[rank].first, spec.merges[rank].second);
    std::size_t i = slot(key);
    while (slots_[i].key != kEmpty && slots_[i].key != key) i = (i + 1) & mask_;
    slots_[i] = {key, {static_cast<std::uint32_t>(rank), spec.merged[rank]}};  // of a pair given twice the later counts
  }
}

Bpe::Bpe(const TokenizerSpec& spec, bool byte_level)
    : byte_level_(byte_level),
      ignore_merges_(spec.ignore_merges),
      fuse_unknown_(spec.fuse_unknown),
      tokens_(&spec.vocabulary),
      merges_(spec) {
  bytes_.fill(kNoToken);
  if (!spec.unknown.empty()) unknown_ = tokens_->id_of(spec.unknown).value_or(kNoToken);
  if (byte_level) spell_in_bytes();
  for (unsigned byte = 0; !byte_level && spec.byte_fallback && byte < 256; ++byte)
    bytes_[byte] = tokens_->id_of(concat("<", byte_name(static_cast<unsigned char>(byte)), ">")).value_or(kNoToken);
}

void Bpe::spell_in_bytes() {
  for (const auto& [token, id] : *tokens_) {
    const std::string bytes = bytes_of_characters(token);
    if (bytes.size() == 1) bytes_[static_cast<unsigned char>(bytes[0])] = id;
    if (ignore_merges_) byte_words_.add(bytes, id);
  }
}

/// Where words that are tokens are not put together from others.
std::optional<std::int32_t> Bpe::whole_word(std::string_view word) const {
  return ignore_merges_ ? (byte_level_ ? byte_words_ : *tokens_).id_of(word) : std::nullopt;
}

/// byte_fallback, or the bytes of a byte-level vocabulary.
bool Bpe::has_bytes(std::string_view character) const {
  return std::ranges::all_of(character, [&](char c) { return bytes_[static_cast<unsigned char>(c)] != kNoToken; });
}

bool Bpe::has_tokens(std::string_view word) const {
  if (unknown_ != kNoToken || whole_word(word)) return true;
  if (byte_level_) return has_bytes(word);
  for (std::size_t i = 0; i < word.size();) {
    const std::string_view character = word.substr(i, std::max(1u, utf8_front(word.substr(i)).length));
    if (!tokens_->id_of(character) && !has_bytes(character)) return false;
    i += character.size();
  }
  return true;
}

void Bpe::encode(std::string_view word, std::vector<std::int32_t>& ids) const {
  if (const auto id = whole_word(word)) return ids.push_back(*id);
  const std::size_t first = ids.size();
  symbols(word, ids);
  const std::size_t count = ids.size() - first;
  ids.resize(first + (count <= kFew ? merge_few(&ids[first], count) : merge_many(&ids[first], count)));
}

void Bpe::symbols(std::string_view word, std::vector<std::int32_t>& ids) const {
  const std::size_t first = ids.size();
  if (byte_level_) {
    for (const char c : word) {
      const std::int32_t id = bytes_[static_cast<unsigned char>(c)];
      if (id == kNoToken)
        add_unknown({&c, 1}, ids, first);
      else
        ids.push_back(id);
    }
    return;
  }
  for (std::size_t i = 0; i < word.size();) {
    const std::string_view character = word.substr(i, std::max(1u, utf8_front(word.substr(i)).length));
    if (const auto id = tokens_->id_of(character))
      ids.push_back(*id);
    else
      add_unknown(character, ids, first);
    i += character.size();
  }
}

void Bpe::add_unknown(std::string_view character, std::vector<std::int32_t>& ids, std::size_t first) const {
  if (!byte_level_ && has_bytes(character)) {
    for (const char c : character) ids.push_back(bytes_[static_cast<unsigned char>(c)]);
    return;
  }
  const bool joined = fuse_unknown_ && unknown_ != kNoToken && ids.size() > first && ids.back() == unknown_;
  if (!joined) ids.push_back(unknown_);
}

// Every step looks for the best pair anew.
std::size_t Bpe::merge_few(std::int32_t* ids, std::size_t count) const {
  MergeTable::Merge pairs[kFew];
  for (std::size_t i = 0; i + 1 < count; ++i) pairs[i] = merges_.find(ids[i], ids[i + 1]);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i)
      if (pairs[i].rank < pairs[best].rank) best = i;
    if (pairs[best].rank == MergeTable::kNone) break;
    ids[best] = pairs[best].merged;
    --count;
    for (std::size_t i = best + 1; i < count; ++i) ids[i] = ids[i + 1];
    for (std::size_t i = best + 1; i + 1 < count; ++i) pairs[i] = pairs[i + 1];
    if (best > 0) pairs[best - 1] = merges_.find(ids[best - 1], ids[best]);
    if (best + 1 < count) pairs[best] = merges_.find(ids[best], ids[best + 1]);
  }
  return count;
}

// A heap of pairs, best first, the leftmost of equals; a pair whose symbols were joined to others meanwhile is passed over.
std::size_t Bpe::merge_many(std::int32_t* ids, std::size_t count) const {
  struct Pair {
    std::uint32_t rank, at;
    std::int32_t left, right;
    bool operator<(const Pair& other) const { return std::tie(rank, at) > std::tie(other.rank, other.at); }
  };
  struct Links {
    std::uint32_t before, after;
  };
  const auto end = static_cast<std::uint32_t>(count);  // also "none before": 0 - 1 is never asked for
  std::vector<Links> links(count);
  for (std::uint32_t i = 0; i < end; ++i) links[i] = {i - 1, i + 1};
  std::vector<Pair> start;
  const auto pair_at = [&](std::uint32_t at, auto&& push) {
    const std::uint32_t next = links[at].after;
    if (next >= end) return;
    const MergeTable::Merge merge = merges_.find(ids[at], ids[next]);
    if (merge.rank != MergeTable::kNone) push(Pair{merge.rank, at, ids[at], ids[next]});
  };
  for (std::uint32_t i = 0; i < end; ++i) pair_at(i, [&](const Pair& pair) { start.push_back(pair); });
  std::priority_queue<Pair> heap(std::less<Pair>{}, std::move(start));
  constexpr std::int32_t kGone = -2;
  while (!heap.empty()) {
    const Pair pair = heap.top();
    heap.pop();
    const std::uint32_t next = links[pair.at].after;
    if (ids[pair.at] != pair.left || next >= end || ids[next] != pair.right) continue;
    ids[pair.at] = merges_.find(pair.left, pair.right).merged;
    ids[next] = kGone;
    links[pair.at].after = links[next].after;
    if (links[next].after < end) links[links[next].after].before = pair.at;
    const auto push = [&](const Pair& found) { heap.push(found); };
    if (pair.at > 0) pair_at(links[pair.at].before, push);
    pair_at(pair.at, push);
  }
  return static_cast<std::size_t>(std::remove(ids, ids + count, kGone) - ids);
}

WordPiece::WordPiece(const TokenizerSpec& spec)
    : tokens_(&spec.vocabulary),
      prefix_(spec.prefix),
      longest_word_(spec.longest_word),
      unknown_(tokens_->id_of(spec.unknown).value_or(0)) {
  for (const Vocabulary::Token token : *tokens_) longest_token_ = std::max(longest_token_, token.text.size());
}

void WordPiece::encode(std::string_view word, std::vector<std::int32_t>& ids) const {
  const auto characters = static_cast<std::size_t>(std::ranges::count_if(word, [](char c) { return !goes_on(c); }));
  if (characters > longest_word_) return ids.push_back(unknown_);
  const std::size_t first = ids.size();
  std::string candidate;
  for (std::size_t begin = 0; begin < word.size();) {
    std::size_t end = std::min(word.size(), begin + longest_token_);
    std::optional<std::int32_t> found;
    for (; end > begin; --end) {
      if (end < word.size() && goes_on(word[end])) continue;  // not inside a character
      candidate = begin == 0 ? "" : prefix_;
      candidate += word.substr(begin, end - begin);
      if ((found = tokens_->id_of(candidate))) break;
    }
    if (!found) {
      ids.resize(first);
      return ids.push_back(unknown_);
    }
    ids.push_back(*found);
    begin = end;
  }
}

}  // namespace addnorm
