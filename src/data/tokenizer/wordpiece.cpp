#include "data/tokenizer/wordpiece.h"

#include <algorithm>

namespace addnorm {
namespace {

bool goes_on(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

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
