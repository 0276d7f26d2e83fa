#include "data/tokenizer/steps/step_kinds.h"

namespace addnorm {
namespace {

constexpr const char* kNormalizers =
    "supported are BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, Prepend, Replace, Sequence, Strip, StripAccents";

void add_bert_normalizer(const JsonPlace& at, std::vector<NormalizerStep>& to) {
  at.allow_only({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
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

/// A match may begin before white space and end behind it: cut there, a text would be changed in another way.
bool looks_across_words(const JsonPlace& pattern) {
  if (!pattern.has("String")) return pattern["Regex"].text() != " {2,}";
  const std::string& from = pattern["String"].text();
  for (std::size_t i = 1; i < from.size(); ++i)
    if (from[i] == ' ' && from[i - 1] != ' ') return true;
  return false;
}

}  // namespace

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
    const auto form = type == "NFC"    ? UnicodeForm::nfc
                      : type == "NFD"  ? UnicodeForm::nfd
                      : type == "NFKC" ? UnicodeForm::nfkc
                                       : UnicodeForm::nfkd;
    to.emplace_back([form](std::string& text) { normalize(text, form); });
  } else if (type == "Lowercase") {
    at.allow_only({"type"});
    to.emplace_back(lower_case);
  } else if (type == "StripAccents") {
    at.allow_only({"type"});
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
