#include "data/tokenizer/added.h"

#include <algorithm>
#include <functional>

#include "core/utf8.h"
#include "data/tokenizer/steps/unicode.h"

namespace addnorm {
namespace {

bool ends_with_word(std::string_view text) {
  return !text.empty() && utf8_back(text).length > 0 && is_word(utf8_back(text).code);
}
bool begins_with_word(std::string_view text) {
  return !text.empty() && utf8_front(text).length > 0 && is_word(utf8_front(text).code);
}

std::size_t white_at_end(std::string_view text) {
  const std::size_t size = text.size();
  while (!text.empty() && utf8_back(text).length > 0 && is_white(utf8_back(text).code))
    text.remove_suffix(utf8_back(text).length);
  return size - text.size();
}
std::size_t white_at_begin(std::string_view text) {
  const std::size_t size = text.size();
  while (!text.empty() && utf8_front(text).length > 0 && is_white(utf8_front(text).code))
    text.remove_prefix(utf8_front(text).length);
  return size - text.size();
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::erase_if(tokens_, [](const AddedToken& token) { return token.content.empty(); });
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const std::string& content = tokens_[i].content;
    if (by_content_.emplace(content, i).second) lengths_[static_cast<unsigned char>(content[0])].push_back(content.size());
  }
  for (auto& lengths : lengths_) {
    std::ranges::sort(lengths, std::greater<>{});
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  }
}

const AddedToken* AddedTokenFinder::found_at(std::string_view text) const {
  for (const std::size_t length : lengths_[static_cast<unsigned char>(text.front())]) {
    if (length > text.size()) continue;
    if (const auto found = by_content_.find(text.substr(0, length)); found != by_content_.end()) return &tokens_[found->second];
  }
  return nullptr;
}

std::vector<AddedPart> AddedTokenFinder::parts(std::string_view text) const {
  std::vector<AddedPart> parts;
  std::size_t done = 0;  // what is in `parts`
  for (std::size_t at = 0; !tokens_.empty() && at < text.size();) {
    const AddedToken* token = lengths_[static_cast<unsigned char>(text[at])].empty() ? nullptr : found_at(text.substr(at));
    if (token == nullptr) {
      ++at;
      continue;
    }
    std::size_t first = at, end = at + token->content.size();
    at = end;
    if (token->single_word && (ends_with_word(text.substr(0, first)) || begins_with_word(text.substr(end)))) continue;
    if (token->lstrip) first = std::max(done, first - white_at_end(text.substr(0, first)));
    if (token->rstrip) end += white_at_begin(text.substr(end));
    if (first > done) parts.push_back({-1, text.substr(done, first - done)});
    parts.push_back({token->id, text.substr(first, end - first)});
    done = at = end;
  }
  if (done < text.size()) parts.push_back({-1, text.substr(done)});
  return parts;
}

}  // namespace addnorm
