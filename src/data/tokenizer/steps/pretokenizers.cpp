// Pre-tokenizers: how each kind takes a text apart, and what the JSON of one asks for.
#include <algorithm>
#include <array>

#include "core/utf8.h"
#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/json.h"
#include "data/tokenizer/steps/steps.h"

namespace addnorm {
namespace {

enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
using Spans = std::vector<std::pair<std::size_t, std::size_t>>;

struct MatchSpan {
  std::size_t first, end;
  bool match;
};

// The whole text: what was found and what lies between.
std::vector<MatchSpan> covering(std::size_t size, const Spans& found, bool invert) {
  std::vector<MatchSpan> all;
  std::size_t done = 0;
  for (const auto& [first, end] : found) {
    if (first > done) all.push_back({done, first, invert});
    all.push_back({first, end, !invert});
    done = end;
  }
  if (done < size) all.push_back({done, size, invert});
  return all;
}

// Where a match stands alone, it goes to the part before it, or after it when the spans are given from the end on.
std::vector<MatchSpan> merged(const std::vector<MatchSpan>& spans) {
  std::vector<MatchSpan> result;
  bool previous = false;
  for (const MatchSpan& span : spans) {
    if (span.match && !previous && !result.empty()) {
      result.back().first = std::min(result.back().first, span.first);
      result.back().end = std::max(result.back().end, span.end);
    } else {
      result.push_back(span);
    }
    previous = span.match;
  }
  return result;
}

std::vector<MatchSpan> contiguous(const std::vector<MatchSpan>& spans) {
  std::vector<MatchSpan> result;
  for (const MatchSpan& span : spans) {
    if (!result.empty() && result.back().match == span.match)
      result.back().end = span.end;
    else
      result.push_back(span);
  }
  return result;
}

std::vector<MatchSpan> behaved(std::vector<MatchSpan> spans, Behavior behavior) {
  switch (behavior) {
    case Behavior::removed:
      std::erase_if(spans, [](const MatchSpan& span) { return span.match; });
      return spans;
    case Behavior::isolated:
      return spans;
    case Behavior::contiguous:
      return contiguous(spans);
    case Behavior::merged_with_previous:
      return merged(spans);
    case Behavior::merged_with_next: {
      std::ranges::reverse(spans);
      spans = merged(spans);
      std::ranges::reverse(spans);
      return spans;
    }
  }
  return spans;
}

/// Takes each part apart at the spans that `find` gives. `invert`: at what lies between them.
void split_at(TextParts& text, const std::function<Spans(std::string_view)>& find, Behavior behavior, bool invert) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : text.parts)
    for (const MatchSpan& span : behaved(covering(part.size(), find(part), invert), behavior))
      parts.push_back(part.substr(span.first, span.end - span.first));
  text.parts = std::move(parts);
}

Spans spans_of_characters(std::string_view text, bool (*is)(char32_t)) {
  Spans spans;
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Char character = utf8_front(text.substr(i));
    const std::size_t length = std::max(1u, character.length);
    if (character.length > 0 && is(character.code)) spans.emplace_back(i, i + length);
    i += length;
  }
  return spans;
}

Spans spans_of_string(std::string_view text, std::string_view what) {
  Spans spans;
  for (std::size_t at = 0; !what.empty() && (at = text.find(what, at)) != std::string_view::npos; at += what.size())
    spans.emplace_back(at, at + what.size());
  return spans;
}

/// \w+|[^\w\s]+
Spans spans_of_words(std::string_view text) {
  Spans spans;
  int before = 0;  // 1: white space, 2: a word, 3: other signs
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Char character = utf8_front(text.substr(i));
    const std::size_t length = std::max(1u, character.length);
    const int now = is_white(character.code) ? 1 : is_word(character.code) ? 2 : 3;
    if (now != 1 && now == before) spans.back().second += length;
    if (now != 1 && now != before) spans.emplace_back(i, i + length);
    before = now;
    i += length;
  }
  return spans;
}

Spans spans_of_gpt2_words(std::string_view text) {
  Spans spans;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = gpt2_word(text.substr(i));
    spans.emplace_back(i, i + length);
    i += length;
  }
  return spans;
}

/// Where a part does not begin with one.
void prepend_space(TextParts& text) {
  for (std::string_view& part : text.parts)
    if (!part.starts_with(' ')) part = text.keep(std::string(1, ' ').append(part));
}

/// Spaces become `replacement`; `first_only`, `always`: put before a part that does not begin with it.
void metaspace(TextParts& text, const std::string& replacement, bool always, bool first_only, bool split) {
  bool first = text.at_start;
  for (std::string_view& part : text.parts) {
    std::string changed(part);
    replace_all(changed, " ", replacement);
    if ((always || (first_only && first)) && !changed.starts_with(replacement)) changed.insert(0, replacement);
    part = text.keep(std::move(changed));
    first = false;
  }
  if (split)
    split_at(
        text, [&](std::string_view part) { return spans_of_string(part, replacement); }, Behavior::merged_with_next, false);
}

constexpr const char* kPreTokenizers =
    "supported are BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, Metaspace, Punctuation, Sequence, Split, Whitespace, "
    "WhitespaceSplit";

// Patterns of other tokenizers (GPT-4, Llama 3; Qwen 2; GPT-4o) of which is known: a letter or number ends a word when white
// space follows, whatever comes after.
constexpr std::array<std::string_view, 3> kKnownPatterns{
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
};
// Numbers alone: takes apart less than words.
constexpr std::string_view kNumberPattern = R"(\p{N}{1,3})";

Behavior behavior_of(const JsonPlace& at) {
  const std::string& name = at.text();
  if (name == "Removed") return Behavior::removed;
  if (name == "Isolated") return Behavior::isolated;
  if (name == "MergedWithPrevious") return Behavior::merged_with_previous;
  if (name == "MergedWithNext") return Behavior::merged_with_next;
  if (name == "Contiguous") return Behavior::contiguous;
  at.wrong("it must be Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

void add_byte_level(const JsonPlace& at, TokenizerSteps& steps, CutFacts& cuts) {
  at.allow_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  const bool prefix = at.truth_or("add_prefix_space", true), words = at.truth_or("use_regex", true);
  if (words) require_unicode(at["type"]);
  steps.byte_level = true;
  if (prefix) steps.pre_tokenizers.emplace_back(prepend_space);
  if (words) cuts.splits = cuts.needs_same_text = true;
  cuts.only_space = cuts.only_space || prefix;
  steps.gpt2_words = words && steps.pre_tokenizers.empty();
  if (words && !steps.gpt2_words)
    steps.pre_tokenizers.emplace_back([](TextParts& text) { split_at(text, spans_of_gpt2_words, Behavior::isolated, false); });
}

void add_split_by(const std::string& what, Behavior how, bool invert, std::vector<PreTokenizerStep>& to, CutFacts& cuts) {
  cuts.whole = cuts.whole || what.find_first_of(" \t\n\r\v\f") != std::string::npos;
  to.emplace_back([what, how, invert](TextParts& text) {
    split_at(
        text, [&](std::string_view part) { return spans_of_string(part, what); }, how, invert);
  });
}

void add_split(const JsonPlace& at, std::vector<PreTokenizerStep>& to, CutFacts& cuts) {
  const JsonPlace pattern = at["pattern"];
  const Behavior how = behavior_of(at["behavior"]);
  const bool invert = at.truth_or("invert", false);
  if (pattern.has("String")) return add_split_by(pattern["String"].text(), how, invert, to, cuts);
  const std::string expression = pattern["Regex"].text();
  const bool keeps_words = how == Behavior::isolated || (how == Behavior::removed && invert);
  if (expression == kGpt2Pattern && keeps_words) {
    require_unicode(pattern["Regex"]);
    cuts.splits = cuts.needs_same_text = true;
    to.emplace_back([](TextParts& text) { split_at(text, spans_of_gpt2_words, Behavior::isolated, false); });
    return;
  }
  const bool known = std::ranges::find(kKnownPatterns, std::string_view(expression)) != kKnownPatterns.end();
  if (known && keeps_words) cuts.splits = cuts.needs_same_text = cuts.needs_word = true;
  if (!keeps_words || !(known || expression == kNumberPattern)) cuts.whole = true;
  const auto compiled = regex_of(pattern["Regex"]);
  to.emplace_back([compiled, how, invert](TextParts& text) {
    split_at(
        text, [&](std::string_view part) { return compiled->matches(part); }, how, invert);
  });
}

void add_metaspace(const JsonPlace& at, std::vector<PreTokenizerStep>& to, CutFacts& cuts) {
  at.allow_only({"type", "replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"});
  const std::string replacement = at.text_or("replacement", "\xE2\x96\x81");
  const std::string scheme = at.text_or("prepend_scheme", at.truth_or("add_prefix_space", true) ? "always" : "never");
  if (scheme != "always" && scheme != "first" && scheme != "never")
    at["prepend_scheme"].wrong("it must be always, first or never");
  const bool splits_words = at.truth_or("split", true), always = scheme == "always", first = scheme == "first";
  cuts.splits = cuts.splits || splits_words;
  cuts.only_space = true;
  to.emplace_back([=](TextParts& text) { metaspace(text, replacement, always, first, splits_words); });
}

}  // namespace

void add_pre_tokenizer(const JsonPlace& at, TokenizerSteps& steps, CutFacts& cuts) {
  if (at.is_null()) return;
  const JsonPlace type_at = at["type"];
  const std::string type = type_at.text();
  if (steps.byte_level) at.fail("stands after ByteLevel; supported is ByteLevel as the last pre-tokenizer");
  auto& to = steps.pre_tokenizers;
  if (type == "Sequence") {
    at.allow_only({"type", "pretokenizers"});
    for (std::size_t i = 0; i < at["pretokenizers"].items(); ++i) add_pre_tokenizer(at["pretokenizers"].item(i), steps, cuts);
  } else if (type == "ByteLevel") {
    add_byte_level(at, steps, cuts);
  } else if (type == "BertPreTokenizer") {
    at.allow_only({"type"});
    require_unicode(type_at);
    to.emplace_back([](TextParts& text) {
      split_at(
          text, [](std::string_view part) { return spans_of_characters(part, is_white); }, Behavior::removed, false);
      split_at(
          text, [](std::string_view part) { return spans_of_characters(part, is_punctuation); }, Behavior::isolated, false);
    });
    cuts.splits = true;
  } else if (type == "Whitespace") {
    at.allow_only({"type"});
    to.emplace_back([](TextParts& text) { split_at(text, spans_of_words, Behavior::removed, true); });
    cuts.splits = true;
  } else if (type == "WhitespaceSplit") {
    at.allow_only({"type"});
    to.emplace_back([](TextParts& text) {
      split_at(
          text, [](std::string_view part) { return spans_of_characters(part, is_white); }, Behavior::removed, false);
    });
    cuts.splits = true;
  } else if (type == "Digits") {
    at.allow_only({"type", "individual_digits"});
    require_unicode(type_at);
    const Behavior behavior = at.truth_or("individual_digits", false) ? Behavior::isolated : Behavior::contiguous;
    to.emplace_back([behavior](TextParts& text) {
      split_at(
          text, [](std::string_view part) { return spans_of_characters(part, is_numeric); }, behavior, false);
    });
  } else if (type == "Punctuation") {
    at.allow_only({"type", "behavior"});
    require_unicode(type_at);
    const Behavior how = at.has("behavior") ? behavior_of(at["behavior"]) : Behavior::isolated;
    to.emplace_back([how](TextParts& text) {
      split_at(
          text, [](std::string_view part) { return spans_of_characters(part, is_punctuation); }, how, false);
    });
  } else if (type == "CharDelimiterSplit") {
    at.allow_only({"type", "delimiter"});
    add_split_by(at["delimiter"].text(), Behavior::removed, false, to, cuts);
  } else if (type == "Split") {
    at.allow_only({"type", "pattern", "behavior", "invert"});
    add_split(at, to, cuts);
  } else if (type == "Metaspace") {
    add_metaspace(at, to, cuts);
  } else {
    type_at.wrong(kPreTokenizers);
  }
}

}  // namespace addnorm
