// From the JSON of a tokenizer's parts to the steps that they stand for.
#include "data/tokenizer/steps/steps.h"

#include "data/tokenizer/json.h"

namespace addnorm {
namespace {

using IdOf = std::function<std::int32_t(const std::string&)>;

constexpr const char* kPostProcessors =
    "supported are BertProcessing, ByteLevel, RobertaProcessing, Sequence, TemplateProcessing";

void check_id(const JsonPlace& at, const std::string& token, const IdOf& id_of) {
  const std::int32_t known = id_of(token);
  if (known < 0) at.fail("is the id of '", token, "', which is neither in the vocabulary nor an added token");
  if (at.number(0x7FFFFFFF) != static_cast<std::uint64_t>(known)) at.wrong(concat("the id of '", token, "' is ", known));
}

// ["[CLS]", 101]
std::string token_with_id(const JsonPlace& at, const IdOf& id_of) {
  if (at.items() != 2) at.wrong("it must be a token and its id");
  const std::string& token = at.item(0).text();
  check_id(at.item(1), token, id_of);
  return token;
}

void add_template(const JsonPlace& at, TokenizerSteps& steps, const IdOf& id_of) {
  const auto token = [&](const JsonPlace& part) {
    const std::string name = part["SpecialToken"]["id"].text();
    const JsonPlace ids = at["special_tokens"][name]["ids"];
    if (ids.items() == 1) check_id(ids.item(0), name, id_of);
    return name;
  };
  bool seen_text = false;
  const JsonPlace single = at["single"];
  for (std::size_t i = 0; i < single.items(); ++i) {
    const JsonPlace part = single.item(i);
    if (part.has("Sequence")) seen_text = true;
    if (!part.has("SpecialToken")) continue;
    (seen_text ? steps.after : steps.before).push_back(token(part));
  }
}

void add_post_processor(const JsonPlace& at, TokenizerSteps& steps, const IdOf& id_of) {
  if (at.is_null()) return;
  const std::string type = at["type"].text();
  if (type == "Sequence") {
    for (std::size_t i = 0; i < at["processors"].items(); ++i) add_post_processor(at["processors"].item(i), steps, id_of);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    steps.before = {token_with_id(at["cls"], id_of)};
    steps.after = {token_with_id(at["sep"], id_of)};
  } else if (type == "TemplateProcessing") {
    add_template(at, steps, id_of);
  } else if (type != "ByteLevel") {
    at["type"].wrong(kPostProcessors);
  }
}

TextCut cut_of(const CutFacts& facts, bool normalizes) {
  if (facts.whole || !facts.splits) return {};
  if (normalizes && facts.needs_same_text) return {TextCut::Before::ascii_word, facts.only_space};
  return {facts.needs_word ? TextCut::Before::word : TextCut::Before::anything, facts.only_space};
}

}  // namespace

void require_unicode(const JsonPlace& at) {
  if (!kKnowsUnicode) at.wrong(kWithoutUnicode);
}

TokenizerSteps steps_of(const TokenizerSpec& spec, std::string_view where) {
  TokenizerSteps steps;
  CutFacts cuts;
  const Json normalizer = parsed(spec.normalizer, where), pre_tokenizer = parsed(spec.pre_tokenizer, where);
  const Json decoder = parsed(spec.decoder, where), post_processor = parsed(spec.post_processor, where);
  add_normalizer({normalizer, where, "normalizer"}, steps, cuts);
  add_pre_tokenizer({pre_tokenizer, where, "pre_tokenizer"}, steps, cuts);
  if (decoder.is_null())
    steps.no_decoder = true;
  else
    add_decoder({decoder, where, "decoder"}, steps);
  for (const AddedToken& added : spec.added)
    if (added.single_word && !kKnowsUnicode)
      throw DataError(
          concat(where, ": the added token '", printable(added.content), "' stands for a single word; ", kWithoutUnicode));
  const auto id_of = [&](const std::string& token) -> std::int32_t {
    for (const AddedToken& added : spec.added)
      if (added.content == token) return added.id;
    return spec.vocabulary.id_of(token).value_or(-1);
  };
  add_post_processor({post_processor, where, "post_processor"}, steps, id_of);
  if (!steps.before.empty()) steps.begin = steps.before.front();
  if (!steps.after.empty()) steps.end = steps.after.back();
  const Json padding = parsed(spec.padding, where);
  const JsonPlace pad(padding, where, "padding");
  if (pad.has("pad_id")) steps.pad = static_cast<std::int32_t>(pad["pad_id"].number(0x7FFFFFFF));
  steps.cut = cut_of(cuts, !steps.normalizers.empty());
  return steps;
}

}  // namespace addnorm
