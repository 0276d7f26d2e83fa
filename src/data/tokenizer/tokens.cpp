#include "data/tokenizer/tokens.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "addnorm/core/error.h"
#include "core/utf8.h"
#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/steps/unicode.h"

namespace addnorm {
namespace {

std::size_t vocabulary_of(const TokenizerSpec& spec) {
  std::int32_t most = spec.vocabulary.empty() ? -1 : spec.vocabulary.back().id;
  for (const AddedToken& token : spec.added) most = std::max(most, token.id);
  return static_cast<std::size_t>(most) + 1;
}

// What an added token looks like in the text in which it is looked for.
std::string matched(const AddedToken& token, const TokenizerSteps& steps) {
  std::string content = token.content;
  if (token.normalized)
    for (const NormalizerStep& step : steps.normalizers) step(content);
  return content;
}

std::optional<std::int32_t> id_in(const TokenizerSpec& spec, std::string_view name) {
  for (const AddedToken& token : spec.added)
    if (token.content == name) return token.id;
  return spec.vocabulary.id_of(name);
}

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

TokenPieces pieces_of(const TokenizerSpec& spec, const TokenizerSteps& steps) {
  const auto piece = [&](std::string token) {
    for (const DecoderStep& step : steps.decoders) step(token);
    return steps.no_decoder ? " " + token : token;
  };
  std::map<std::int32_t, std::string> added;
  for (const AddedToken& token : spec.added) added[token.id] = token.special ? "" : piece(matched(token, steps));
  TokenPieces pieces;
  auto next = spec.vocabulary.begin();
  const auto count = static_cast<std::int32_t>(vocabulary_of(spec));
  for (std::int32_t id = 0; id < count; ++id) {
    const bool known = next != spec.vocabulary.end() && (*next).id == id;
    if (const auto found = added.find(id); found != added.end())
      pieces.add(found->second);
    else
      pieces.add(known ? piece(std::string((*next).text)) : "");
    if (known) ++next;
  }
  return pieces;
}

std::vector<AddedToken> added_of(const TokenizerSpec& spec, const TokenizerSteps& steps, bool normalized) {
  std::vector<AddedToken> tokens;
  for (AddedToken token : spec.added) {
    if (token.normalized != normalized) continue;
    token.content = matched(token, steps);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

bool forbids_cuts(const AddedToken& token) {
  const std::string_view content = token.content;
  for (std::size_t i = 1; i < content.size(); ++i)
    if (kAsciiClasses[content[i] & 127] == CharClass::space && kAsciiClasses[content[i - 1] & 127] != CharClass::space)
      return true;
  return token.rstrip || (token.single_word && is_white(utf8_front(content).code));
}

SpecialTokens special_of(const TokenizerSpec& spec, const TokenizerSteps& steps) {
  const auto id_of = [&](std::string_view name) { return id_in(spec, name); };
  const auto first = [&](std::initializer_list<std::string_view> names) {
    std::optional<std::int32_t> found;
    for (const std::string_view name : names)
      if (!found && !name.empty()) found = id_of(name);
    return found;
  };
  SpecialTokens special;
  special.begin = first({steps.begin, "<s>", "[CLS]", "<bos>", "<|begin_of_text|>", "<|startoftext|>", "<|endoftext|>"});
  special.end = first({steps.end, "</s>", "[SEP]", "<eos>", "<|end_of_text|>", "<|endoftext|>"});
  special.pad = first({"<pad>", "[PAD]", "<|pad|>"});
  if (steps.pad >= 0 && static_cast<std::size_t>(steps.pad) < vocabulary_of(spec)) special.pad = steps.pad;
  special.unknown = first({spec.unknown, "<unk>", "[UNK]"});
  special.mask = first({"<mask>", "[MASK]"});
  return special;
}

TextFrame frame_of(const TokenizerSpec& spec, const TokenizerSteps& steps) {
  TextFrame frame;
  const auto ids = [&](const std::vector<std::string>& names, std::vector<std::int32_t>& to) {
    for (const std::string& name : names)
      if (const auto id = id_in(spec, name)) to.push_back(*id);
  };
  ids(steps.before, frame.before);
  ids(steps.after, frame.after);
  return frame;
}

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
