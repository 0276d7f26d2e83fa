#include "data/tokenizer/tokens.h"

#include <algorithm>
#include <map>
#include <optional>

#include "addnorm/core/error.h"
#include "core/utf8.h"
#include "data/tokenizer/byte_level.h"

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
  ids(steps.behind, frame.behind);
  return frame;
}

}  // namespace addnorm
