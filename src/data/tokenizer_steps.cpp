// From the JSON of a tokenizer's parts to the steps that they stand for.
#include "data/tokenizer_steps.h"

#include <array>
#include <optional>

#include "data/byte_level.h"
#include "data/tokenizer_json.h"

namespace addnorm {
namespace {

using Tree = JsonPlace::Tree;

constexpr const char* kNormalizers =
    "supported are BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, Prepend, Replace, Sequence, Strip, StripAccents";
constexpr const char* kPreTokenizers =
    "supported are BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, Metaspace, Punctuation, Sequence, Split, Whitespace, "
    "WhitespaceSplit";
constexpr const char* kDecoders = "supported are ByteFallback, ByteLevel, Fuse, Metaspace, Replace, Sequence, Strip, WordPiece";
constexpr const char* kPostProcessors =
    "supported are BertProcessing, ByteLevel, RobertaProcessing, Sequence, TemplateProcessing";

// Patterns of other tokenizers (GPT-4, Llama 3; Qwen 2; GPT-4o) of which is known: a letter or number ends a word when white
// space follows, whatever comes behind.
constexpr std::array<std::string_view, 3> kKnownPatterns{
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
};
// Numbers alone: takes apart less than words.
constexpr std::string_view kNumberPattern = R"(\p{N}{1,3})";

class Maker {
 public:
  void normalizer(const JsonPlace& at, TokenizerSteps& steps) {
    if (at.is_null()) return;
    const std::string type = at["type"].text();
    auto& to = steps.normalizers;
    if (type == "Sequence") {
      at.allow_only({"type", "normalizers"});
      for (std::size_t i = 0; i < at["normalizers"].items(); ++i) normalizer(at["normalizers"].item(i), steps);
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
      bert_normalizer(at, to);
    } else if (type == "Strip") {
      at.allow_only({"type", "strip_left", "strip_right"});
      const bool left = at.truth_or("strip_left", true), right = at.truth_or("strip_right", true);
      to.emplace_back([left, right](std::string& text) { strip_white(text, left, right); });
      whole_ = true;
    } else if (type == "Prepend") {
      at.allow_only({"type", "prepend"});
      const std::string what = at["prepend"].text();
      to.emplace_back([what](std::string& text) {
        if (!text.empty()) text.insert(0, what);
      });
      whole_ = true;
    } else if (type == "Replace") {
      at.allow_only({"type", "pattern", "content"});
      replace(at, to);
    } else {
      at["type"].wrong(kNormalizers);
    }
  }

  void pre_tokenizer(const JsonPlace& at, TokenizerSteps& steps) {
    if (at.is_null()) return;
    const JsonPlace type_at = at["type"];
    const std::string type = type_at.text();
    if (steps.byte_level) at.fail("stands behind ByteLevel; supported is ByteLevel as the last pre-tokenizer");
    auto& to = steps.pre_tokenizers;
    if (type == "Sequence") {
      at.allow_only({"type", "pretokenizers"});
      for (std::size_t i = 0; i < at["pretokenizers"].items(); ++i) pre_tokenizer(at["pretokenizers"].item(i), steps);
    } else if (type == "ByteLevel") {
      byte_level(at, steps);
    } else if (type == "BertPreTokenizer") {
      at.allow_only({"type"});
      to.emplace_back([](TextParts& text) {
        split_at(
            text, [](std::string_view part) { return spans_of_characters(part, is_white); }, Behavior::removed, false);
        split_at(
            text, [](std::string_view part) { return spans_of_characters(part, is_punctuation); }, Behavior::isolated, false);
      });
      splits_ = true;
    } else if (type == "Whitespace") {
      at.allow_only({"type"});
      to.emplace_back([](TextParts& text) { split_at(text, spans_of_words, Behavior::removed, true); });
      splits_ = true;
    } else if (type == "WhitespaceSplit") {
      at.allow_only({"type"});
      to.emplace_back([](TextParts& text) {
        split_at(
            text, [](std::string_view part) { return spans_of_characters(part, is_white); }, Behavior::removed, false);
      });
      splits_ = true;
    } else if (type == "Digits") {
      at.allow_only({"type", "individual_digits"});
      const Behavior behavior = at.truth_or("individual_digits", false) ? Behavior::isolated : Behavior::contiguous;
      to.emplace_back([behavior](TextParts& text) {
        split_at(
            text, [](std::string_view part) { return spans_of_characters(part, is_numeric); }, behavior, false);
      });
    } else if (type == "Punctuation") {
      at.allow_only({"type", "behavior"});
      const Behavior how = at.has("behavior") ? behavior(at["behavior"]) : Behavior::isolated;
      to.emplace_back([how](TextParts& text) {
        split_at(
            text, [](std::string_view part) { return spans_of_characters(part, is_punctuation); }, how, false);
      });
    } else if (type == "CharDelimiterSplit") {
      at.allow_only({"type", "delimiter"});
      split_by(at["delimiter"].text(), Behavior::removed, false, to);
    } else if (type == "Split") {
      at.allow_only({"type", "pattern", "behavior", "invert"});
      split(at, to);
    } else if (type == "Metaspace") {
      add_metaspace(at, to);
    } else {
      type_at.wrong(kPreTokenizers);
    }
  }

  void decoder(const JsonPlace& at, TokenizerSteps& steps) {
    const std::string type = at["type"].text();
    auto& to = steps.decoders;
    if (type == "Sequence") {
      at.allow_only({"type", "decoders"});
      for (std::size_t i = 0; i < at["decoders"].items(); ++i) decoder(at["decoders"].item(i), steps);
    } else if (type == "ByteLevel") {
      to.emplace_back([](std::string& token) { token = bytes_of_characters(token); });
    } else if (type == "WordPiece") {
      at.allow_only({"type", "prefix", "cleanup"});
      word_piece(at.text_or("prefix", "##"), at.truth_or("cleanup", true), to);
    } else if (type == "Metaspace") {
      at.allow_only({"type", "replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"});
      const std::string from = at.text_or("replacement", "\xE2\x96\x81");
      to.emplace_back([from](std::string& token) { replace_all(token, from, " "); });
    } else if (type == "ByteFallback") {
      at.allow_only({"type"});
      to.emplace_back(byte_of_fallback);
    } else if (type == "Fuse") {
      at.allow_only({"type"});
      fused_ = true;
    } else if (type == "Strip") {  // of a whole text the first space: we keep it, see Tokenizer::decode
      at.allow_only({"type", "content", "start", "stop"});
      if (!fused_ || at["content"].text() != " " || at["start"].number(1) > 1 || at["stop"].number(0) > 0)
        at.wrong("supported is, behind Fuse, content \" \", start 1, stop 0");
    } else if (type == "Replace") {
      at.allow_only({"type", "pattern", "content"});
      if (fused_) at.fail("stands behind Fuse; supported is Replace of single tokens");
      replace(at, to);
    } else {
      at["type"].wrong(kDecoders);
    }
  }

  void post_processor(const JsonPlace& at, TokenizerSteps& steps, const std::function<std::int32_t(const std::string&)>& id_of) {
    if (at.is_null()) return;
    const std::string type = at["type"].text();
    if (type == "Sequence") {
      for (std::size_t i = 0; i < at["processors"].items(); ++i) post_processor(at["processors"].item(i), steps, id_of);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      steps.begin = token_with_id(at["cls"], id_of);
      steps.end = token_with_id(at["sep"], id_of);
    } else if (type == "TemplateProcessing") {
      template_processing(at, steps, id_of);
    } else if (type != "ByteLevel") {
      at["type"].wrong(kPostProcessors);
    }
  }

  /// Where a text may be cut, of all that was made.
  Cut cut(bool normalizes) const {
    if (whole_ || !splits_) return {};
    if (normalizes && needs_same_text_) return {Cut::Before::ascii_word, only_space_};
    return {needs_word_ ? Cut::Before::word : Cut::Before::anything, only_space_};
  }

 private:
  static Behavior behavior(const JsonPlace& at) {
    const std::string& name = at.text();
    if (name == "Removed") return Behavior::removed;
    if (name == "Isolated") return Behavior::isolated;
    if (name == "MergedWithPrevious") return Behavior::merged_with_previous;
    if (name == "MergedWithNext") return Behavior::merged_with_next;
    if (name == "Contiguous") return Behavior::contiguous;
    at.wrong("it must be Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
  }

  static void bert_normalizer(const JsonPlace& at, std::vector<NormalizerStep>& to) {
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

  std::shared_ptr<const Regex> regex(const JsonPlace& at) const {
    try {
      return std::make_shared<const Regex>(at.text());
    } catch (const DataError& error) {
      at.wrong(error.what());
    }
  }

  // Of a normalizer or a decoder.
  template <class Step>
  void replace(const JsonPlace& at, std::vector<Step>& to) {
    const JsonPlace pattern = at["pattern"];
    const std::string content = at["content"].text();
    if (pattern.has("String")) {
      const std::string from = pattern["String"].text();
      for (std::size_t i = 1; i < from.size(); ++i) whole_ = whole_ || (from[i] == ' ' && from[i - 1] != ' ');
      to.emplace_back([from, content](std::string& text) { replace_all(text, from, content); });
    } else {
      const auto expression = regex(pattern["Regex"]);
      whole_ = whole_ || pattern["Regex"].text() != " {2,}";
      to.emplace_back([expression, content](std::string& text) { replace_all(text, *expression, content); });
    }
  }

  void byte_level(const JsonPlace& at, TokenizerSteps& steps) {
    at.allow_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    const bool prefix = at.truth_or("add_prefix_space", true), words = at.truth_or("use_regex", true);
    steps.byte_level = true;
    if (prefix) steps.pre_tokenizers.emplace_back(prepend_space);
    if (words) splits_ = needs_same_text_ = true;
    only_space_ = only_space_ || prefix;
    steps.gpt2_words = words && steps.pre_tokenizers.empty();
    if (words && !steps.gpt2_words)
      steps.pre_tokenizers.emplace_back([](TextParts& text) { split_at(text, spans_of_gpt2_words, Behavior::isolated, false); });
  }

  void split_by(const std::string& what, Behavior how, bool invert, std::vector<PreTokenizerStep>& to) {
    whole_ = whole_ || what.find_first_of(" \t\n\r\v\f") != std::string::npos;
    to.emplace_back([what, how, invert](TextParts& text) {
      split_at(
          text, [&](std::string_view part) { return spans_of_string(part, what); }, how, invert);
    });
  }

  void split(const JsonPlace& at, std::vector<PreTokenizerStep>& to) {
    const JsonPlace pattern = at["pattern"];
    const Behavior how = behavior(at["behavior"]);
    const bool invert = at.truth_or("invert", false);
    if (pattern.has("String")) return split_by(pattern["String"].text(), how, invert, to);
    const std::string expression = pattern["Regex"].text();
    const bool keeps_words = how == Behavior::isolated || (how == Behavior::removed && invert);
    if (expression == kGpt2Pattern && keeps_words) {
      splits_ = needs_same_text_ = true;
      to.emplace_back([](TextParts& text) { split_at(text, spans_of_gpt2_words, Behavior::isolated, false); });
      return;
    }
    const bool known = std::ranges::find(kKnownPatterns, std::string_view(expression)) != kKnownPatterns.end();
    if (known && keeps_words) splits_ = needs_same_text_ = needs_word_ = true;
    if (!keeps_words || !(known || expression == kNumberPattern)) whole_ = true;
    const auto compiled = regex(pattern["Regex"]);
    to.emplace_back([compiled, how, invert](TextParts& text) {
      split_at(
          text, [&](std::string_view part) { return compiled->matches(part); }, how, invert);
    });
  }

  void add_metaspace(const JsonPlace& at, std::vector<PreTokenizerStep>& to) {
    at.allow_only({"type", "replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"});
    const std::string replacement = at.text_or("replacement", "\xE2\x96\x81");
    const std::string scheme = at.text_or("prepend_scheme", at.truth_or("add_prefix_space", true) ? "always" : "never");
    if (scheme != "always" && scheme != "first" && scheme != "never")
      at["prepend_scheme"].wrong("it must be always, first or never");
    const bool splits_words = at.truth_or("split", true), always = scheme == "always", first = scheme == "first";
    splits_ = splits_ || splits_words;
    only_space_ = true;
    to.emplace_back([=](TextParts& text) { metaspace(text, replacement, always, first, splits_words); });
  }

  static void word_piece(const std::string& prefix, bool cleanup, std::vector<DecoderStep>& to) {
    to.emplace_back([prefix, cleanup](std::string& token) {
      if (!prefix.empty() && token.starts_with(prefix))
        token.erase(0, prefix.size());
      else
        token.insert(0, " ");
      if (!cleanup) return;
      for (const char* mark : {".", "?", "!", ","}) replace_all(token, std::string(" ") += mark, mark);
      replace_all(token, " ' ", "'");
      for (const char* ending : {"n't", "'m"}) replace_all(token, std::string(" ") += ending, ending);
      replace_all(token, " do not", " don't");
      for (const char* ending : {"'s", "'ve", "'re"}) replace_all(token, std::string(" ") += ending, ending);
    });
  }

  static void byte_of_fallback(std::string& token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return;
    int value = 0;
    for (const char c : {token[3], token[4]}) {
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                               : -1;
      if (digit < 0) return;
      value = value * 16 + digit;
    }
    token = std::string(1, static_cast<char>(value));
  }

  // ["[CLS]", 101]
  static std::string token_with_id(const JsonPlace& at, const std::function<std::int32_t(const std::string&)>& id_of) {
    if (at.items() != 2) at.wrong("it must be a token and its id");
    const std::string& token = at.item(0).text();
    check_id(at.item(1), token, id_of);
    return token;
  }
  static void check_id(const JsonPlace& at, const std::string& token,
                       const std::function<std::int32_t(const std::string&)>& id_of) {
    const std::int32_t known = id_of(token);
    if (known < 0) at.fail("is the id of '", token, "', which is neither in the vocabulary nor an added token");
    if (at.number(0x7FFFFFFF) != static_cast<std::uint64_t>(known)) at.wrong(concat("the id of '", token, "' is ", known));
  }
  void template_processing(const JsonPlace& at, TokenizerSteps& steps,
                           const std::function<std::int32_t(const std::string&)>& id_of) {
    const auto token = [&](const JsonPlace& part) {
      const std::string name = part["SpecialToken"]["id"].text();
      const JsonPlace ids = at["special_tokens"][name.c_str()]["ids"];
      if (ids.items() == 1) check_id(ids.item(0), name, id_of);
      return name;
    };
    bool seen_text = false;
    const JsonPlace single = at["single"];
    for (std::size_t i = 0; i < single.items(); ++i) {
      const JsonPlace part = single.item(i);
      if (part.has("Sequence")) seen_text = true;
      if (!part.has("SpecialToken")) continue;
      if (!seen_text && steps.begin.empty()) steps.begin = token(part);
      if (seen_text) steps.end = token(part);
    }
  }

  bool splits_ = false;           // words end where white space begins
  bool whole_ = false;            // something looks at the text as a whole
  bool needs_same_text_ = false;  // what stands before the white space matters, and normalizers may change it
  bool needs_word_ = false;
  bool only_space_ = false;
  bool fused_ = false;
};

}  // namespace

TokenizerSteps steps_of(const TokenizerSpec& spec, std::string_view where) {
  TokenizerSteps steps;
  Maker maker;
  const Tree normalizer = Tree::parse(spec.normalizer), pre_tokenizer = Tree::parse(spec.pre_tokenizer);
  const Tree decoder = Tree::parse(spec.decoder), post_processor = Tree::parse(spec.post_processor);
  maker.normalizer({normalizer, where, "normalizer"}, steps);
  maker.pre_tokenizer({pre_tokenizer, where, "pre_tokenizer"}, steps);
  if (decoder.is_null())
    steps.no_decoder = true;
  else
    maker.decoder({decoder, where, "decoder"}, steps);
  const auto id_of = [&](const std::string& token) -> std::int32_t {
    for (const AddedToken& added : spec.added)
      if (added.content == token) return added.id;
    for (const auto& entry : spec.vocabulary)
      if (entry.first == token) return entry.second;
    return -1;
  };
  maker.post_processor({post_processor, where, "post_processor"}, steps, id_of);
  const Tree padding = Tree::parse(spec.padding);
  const JsonPlace pad(padding, where, "padding");
  if (pad.has("pad_id")) steps.pad = static_cast<std::int32_t>(pad["pad_id"].number(0x7FFFFFFF));
  steps.cut = maker.cut(!steps.normalizers.empty());
  return steps;
}

}  // namespace addnorm
