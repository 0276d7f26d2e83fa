// Normalizers: what each kind does to a text, and what the JSON of one asks for.
#include <algorithm>

#include "core/utf8.h"
#include "data/tokenizer/json.h"
#include "data/tokenizer/steps/steps.h"

namespace addnorm {
namespace {

// Each character replaced by what `give` appends.
template <class Give>
void rewritten(std::string& text, Give give) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Char character = utf8_front(std::string_view(text).substr(i));
    const std::size_t length = std::max(1u, character.length);
    give(result, character.code, std::string_view(text).substr(i, length));
    i += length;
  }
  text = std::move(result);
}

// The blocks that BERT separates, as `tokenizers` has them.
bool is_chinese(char32_t c) {
  const auto in = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  return in(0x4E00, 0x9FFF) || in(0x3400, 0x4DBF) || in(0x20000, 0x2A6DF) || in(0x2A700, 0x2B73F) || in(0x2B740, 0x2B81F) ||
         in(0x2B920, 0x2CEAF) || in(0xF900, 0xFAFF) || in(0x2F800, 0x2FA1F);
}

/// Control characters removed, white space becomes U+0020.
void bert_clean(std::string& text) {
  rewritten(text, [](std::string& out, char32_t code, std::string_view character) {
    if (is_white(code) && (code == '\t' || code == '\n' || code == '\r' || !is_other(code))) {
      out += ' ';
    } else if (code != 0 && code != 0xFFFD && !is_other(code)) {
      out += character;
    }
  });
}

/// Spaces around CJK characters.
void bert_chinese(std::string& text) {
  rewritten(text, [](std::string& out, char32_t code, std::string_view character) {
    const bool apart = is_chinese(code);
    if (apart) out += ' ';
    out += character;
    if (apart) out += ' ';
  });
}

void lower_case(std::string& text) {
  rewritten(text, [](std::string& out, char32_t code, std::string_view) {
    if (code < 128) return out.push_back(code >= 'A' && code <= 'Z' ? static_cast<char>(code + 32) : static_cast<char>(code));
    char32_t room[2];
    for (const char32_t c : lower(code, room)) append_utf8(out, c);
  });
}

void remove_marks(std::string& text, bool (*is)(char32_t)) {
  rewritten(text, [is](std::string& out, char32_t code, std::string_view character) {
    if (code < 128 || !is(code)) out += character;
  });
}

void strip_white(std::string& text, bool left, bool right) {
  std::string_view rest = text;
  while (left && !rest.empty() && is_white(utf8_front(rest).code)) rest.remove_prefix(std::max(1u, utf8_front(rest).length));
  while (right && !rest.empty() && is_white(utf8_back(rest).code)) rest.remove_suffix(std::max(1u, utf8_back(rest).length));
  text = std::string(rest);
}

constexpr const char* kNormalizers =
    "supported are BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, Prepend, Replace, Sequence, Strip, StripAccents";

void add_bert_normalizer(const JsonPlace& at, std::vector<NormalizerStep>& to) {
  at.allow_only({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
  require_unicode(at["type"]);
  const bool lowers = at.truth_or("lowercase", true);
  if (at.truth_or("clean_text", true)) to.emplace_back(bert_clean);
  if (at.truth_or("handle_chinese_chars", true)) to.emplace_back(bert_chinese);
  if (at.truth_or("strip_accents", lowers))
    to.emplace_back([](std::string& text) {
      normalize(text, UnicodeForm::nfd);
      remove_marks(text, is_nonspacing_mark);
    });
  if (lowers) to.emplace_back(lower_case);
}

/// A match may begin before white space and end after it: a text cut there would be normalised differently.
bool looks_across_words(const JsonPlace& pattern) {
  if (!pattern.has("String")) return pattern["Regex"].text() != " {2,}";
  const std::string& from = pattern["String"].text();
  for (std::size_t i = 1; i < from.size(); ++i)
    if (from[i] == ' ' && from[i - 1] != ' ') return true;
  return false;
}

}  // namespace

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty() || text.find(from) == std::string::npos) return;
  std::string result;
  std::size_t done = 0;
  for (std::size_t at; (at = text.find(from, done)) != std::string::npos; done = at + from.size())
    result.append(text, done, at - done).append(to);
  text = std::move(result.append(text, done));
}

void replace_all(std::string& text, const Regex& pattern, std::string_view to) {
  std::string result;
  std::size_t done = 0;
  for (const auto& [first, end] : pattern.matches(text)) {
    result.append(text, done, first - done).append(to);
    done = end;
  }
  text = std::move(result.append(text, done));
}

std::shared_ptr<const Regex> regex_of(const JsonPlace& at) {
  try {
    return std::make_shared<const Regex>(at.text());
  } catch (const DataError& error) {
    at.wrong(error.what());
  }
}

TextChange replacement_of(const JsonPlace& at) {
  const JsonPlace pattern = at["pattern"];
  const std::string content = at["content"].text();
  if (pattern.has("String")) {
    const std::string from = pattern["String"].text();
    return [from, content](std::string& text) { replace_all(text, from, content); };
  }
  const auto expression = regex_of(pattern["Regex"]);
  return [expression, content](std::string& text) { replace_all(text, *expression, content); };
}

void add_normalizer(const JsonPlace& at, TokenizerSteps& steps, CutFacts& cuts) {
  if (at.is_null()) return;
  const std::string type = at["type"].text();
  auto& to = steps.normalizers;
  if (type == "Sequence") {
    at.allow_only({"type", "normalizers"});
    for (std::size_t i = 0; i < at["normalizers"].items(); ++i) add_normalizer(at["normalizers"].item(i), steps, cuts);
  } else if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    at.allow_only({"type"});
    require_unicode(at["type"]);
    const auto form = type == "NFC"    ? UnicodeForm::nfc
                      : type == "NFD"  ? UnicodeForm::nfd
                      : type == "NFKC" ? UnicodeForm::nfkc
                                       : UnicodeForm::nfkd;
    to.emplace_back([form](std::string& text) { normalize(text, form); });
  } else if (type == "Lowercase") {
    at.allow_only({"type"});
    require_unicode(at["type"]);
    to.emplace_back(lower_case);
  } else if (type == "StripAccents") {
    at.allow_only({"type"});
    require_unicode(at["type"]);
    to.emplace_back([](std::string& text) { remove_marks(text, is_mark); });
  } else if (type == "BertNormalizer") {
    add_bert_normalizer(at, to);
  } else if (type == "Strip") {
    at.allow_only({"type", "strip_left", "strip_right"});
    const bool left = at.truth_or("strip_left", true), right = at.truth_or("strip_right", true);
    to.emplace_back([left, right](std::string& text) { strip_white(text, left, right); });
    cuts.whole = true;
  } else if (type == "Prepend") {
    at.allow_only({"type", "prepend"});
    const std::string what = at["prepend"].text();
    to.emplace_back([what](std::string& text) {
      if (!text.empty()) text.insert(0, what);
    });
    cuts.whole = true;
  } else if (type == "Replace") {
    at.allow_only({"type", "pattern", "content"});
    to.push_back(replacement_of(at));
    cuts.whole = cuts.whole || looks_across_words(at["pattern"]);
  } else {
    at["type"].wrong(kNormalizers);
  }
}

}  // namespace addnorm
