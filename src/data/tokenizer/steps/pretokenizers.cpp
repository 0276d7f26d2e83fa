#include <algorithm>

#include "core/utf8.h"
#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/steps/steps.h"

namespace addnorm {
namespace {

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

// Where a match stands alone, it goes to the part before it, or behind it when the spans are given from the end on.
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

}  // namespace

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

Spans spans_of_words(std::string_view text) {
  Spans spans;
  int before = 0;  // 1: white space, 2: a word, 3: other signs
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Char character = utf8_front(text.substr(i));
    const std::size_t length = std::max(1u, character.length);
    const int now = is_word(character.code) ? 2 : is_white(character.code) ? 1 : 3;
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

void prepend_space(TextParts& text) {
  for (std::string_view& part : text.parts)
    if (!part.starts_with(' ')) part = text.keep(std::string(1, ' ').append(part));
}

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

}  // namespace addnorm
