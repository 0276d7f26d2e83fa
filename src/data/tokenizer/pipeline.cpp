// Text -> added tokens and what lies between -> normalised -> words -> ids.
#include "data/tokenizer/spec.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "addnorm/core/error.h"
#include "core/printable.h"
#include "core/utf8.h"
#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/models.h"
#include "data/tokenizer/steps/steps.h"
#include "data/tokenizer/tokens.h"

namespace addnorm {
namespace {

TokenizerModel model_of(const TokenizerSpec& spec, const TokenizerSteps& steps) {
  if (spec.model == "WordPiece") return WordPiece(spec);
  return Bpe(spec, steps.byte_level);
}

class PipelineTokenizer final : public Tokenizer {
 public:
  PipelineTokenizer(TokenizerSpec spec, std::string_view where)
      : spec_(std::move(spec)),
        steps_(steps_of(spec_, where)),
        model_(model_of(spec_, steps_)),
        pieces_(pieces_of(spec_, steps_)),
        raw_added_(added_of(spec_, steps_, false)),
        normalized_added_(added_of(spec_, steps_, true)),
        special_(special_of(spec_, steps_)),
        frame_(frame_of(spec_, steps_)) {
    if (std::ranges::any_of(spec_.added, forbids_cuts)) steps_.cut = {};
  }

  std::string_view kind() const override { return spec_.model == "BPE" ? "bpe" : "wordpiece"; }
  std::size_t vocabulary() const override { return pieces_.size(); }
  SpecialTokens special() const override { return special_; }
  TextFrame frame() const override { return frame_; }
  bool adds_space() const override { return steps_.adds_space; }
  std::string decode(std::span<const std::int32_t> ids) const override { return pieces_.decoded(ids); }
  std::string to_json() const override { return json_of(spec_); }

  std::vector<std::int32_t> encode(std::string_view text) const override {
    if (needs_utf8() && bad_utf8(text).count > 0) fail_to_encode(flaws(text));
    std::vector<std::int32_t> ids = encoded(text);
    if (std::ranges::find(ids, Bpe::kNoToken) != ids.end()) fail_to_encode(flaws(text));
    return ids;
  }

  TextFlaws flaws(std::string_view text) const override {
    TextFlaws found = needs_utf8() ? bad_utf8(text) : TextFlaws{};
    if (found.count > 0) return found;
    bool everywhere = true;  // words lie in the text as it was given
    TextParts parts;
    visit(
        text, parts, [](std::int32_t) {},
        [&](std::string_view word) {
          if (has_tokens(word)) return;
          const std::less<const char*> before;
          if (before(word.data(), text.data()) || before(text.data() + text.size(), word.data() + word.size())) {
            everywhere = false;
          } else {
            add_flaws_of(word, static_cast<std::size_t>(word.data() - text.data()), found);
          }
        });
    return everywhere ? found : flaws_by_character(text);
  }

  std::size_t complete(std::string_view text) const override {
    if (steps_.cut.before == TextCut::Before::nothing) return 0;
    for (std::size_t at = text.size(); at-- > 1;) {
      const auto next = static_cast<unsigned char>(text[at]);
      const bool white = next < 128 && (steps_.cut.only_space ? next == ' ' : kAsciiClasses[next] == CharClass::space);
      if (white && may_cut_after(text.substr(0, at))) return at;
    }
    return 0;
  }

 private:
  bool needs_utf8() const { return !steps_.byte_level || !steps_.normalizers.empty(); }

  static TextFlaws bad_utf8(std::string_view text) {
    TextFlaws found;
    for (std::size_t i = 0; i < text.size();) {
      const Utf8Char character = utf8_front(text.substr(i));
      if (character.length == 0 && found.count++ == 0) {
        found.first = i;
        found.what = concat("the byte ", byte_name(static_cast<unsigned char>(text[i])), ", which is not UTF-8");
      }
      i += std::max(1u, character.length);
    }
    return found;
  }
  /// Of the character that begins the text.
  static std::string name_of(std::string_view text) {
    const Utf8Char read = utf8_front(text);
    if (read.length == 0) return concat("the byte ", byte_name(static_cast<unsigned char>(text[0])));
    return concat("the character ", character_name(read.code));
  }
  static std::string name_of_word(std::string_view word) {
    constexpr std::size_t kShown = 60;
    if (word.size() <= kShown) return concat("'", printable(std::string(word)), "'");
    const std::string_view beginning = word.substr(0, utf8_complete(word.substr(0, kShown)));
    return concat("'", printable(std::string(beginning)), "...' (", word.size(), " bytes)");
  }
  /// A letter or number of Oniguruma's Unicode, which may be older than ours.
  static bool is_word_of_patterns(std::string_view character) {
    static const Regex kWord(R"([\p{L}\p{N}])");
    return !kWord.matches(character).empty();
  }
  bool may_cut_after(std::string_view text) const {
    const Utf8Char last = utf8_back(text);
    if (last.length == 0) return false;
    const CharClass kind = char_class(last.code);
    const bool word = kind == CharClass::letter || kind == CharClass::number;
    switch (steps_.cut.before) {
      case TextCut::Before::nothing:
        return false;
      case TextCut::Before::ascii_word:
        return word && last.code < 128;
      case TextCut::Before::word:
        return word && is_word_of_patterns(text.substr(text.size() - last.length));
      case TextCut::Before::anything:
        return kind != CharClass::space;
    }
    return false;
  }

  bool has_tokens(std::string_view word) const {
    return std::visit([&](const auto& model) { return model.has_tokens(word); }, model_);
  }
  /// This many, the first of them at `at`. `what` describes what stands there, and is called for the first of all only: there may
  /// be millions.
  template <class What>
  static void add_flaws(TextFlaws& found, std::size_t count, std::size_t at, What&& what) {
    if (found.count == 0) {
      found.first = at;
      found.what = what() + ", for which the vocabulary has no token";
    }
    found.count += count;
  }
  /// Its characters that have no token; the word itself, where none has, or where they are tokens only by themselves.
  void add_flaws_of(std::string_view word, std::size_t at, TextFlaws& found) const {
    std::size_t characters = 0, flawed = 0, first = 0;
    for (std::size_t i = 0; i < word.size(); ++characters) {
      const std::string_view character = word.substr(i, std::max(1u, utf8_front(word.substr(i)).length));
      if (!has_tokens(character) && flawed++ == 0) first = i;
      i += character.size();
    }
    if (flawed == 0 || (characters > 1 && flawed == characters))
      add_flaws(found, 1, at, [&] { return name_of_word(word); });
    else
      add_flaws(found, flawed, at + first, [&] { return name_of(word.substr(first)); });
  }
  /// Where a text was changed on its way: each character by itself, for it is found where it stands.
  TextFlaws flaws_by_character(std::string_view text) const {
    TextFlaws found;
    std::unordered_map<std::string_view, bool> known;
    for (std::size_t i = 0; i < text.size();) {
      const std::string_view character = text.substr(i, std::max(1u, utf8_front(text.substr(i)).length));
      const auto [entry, fresh] = known.emplace(character, true);
      if (fresh) {
        const std::vector<std::int32_t> ids = encoded(character);
        entry->second = std::ranges::find(ids, Bpe::kNoToken) == ids.end();
      }
      if (!entry->second) add_flaws(found, 1, i, [&] { return name_of(character); });
      i += character.size();
    }
    return found;
  }

  std::vector<std::int32_t> encoded(std::string_view text) const {
    std::vector<std::int32_t> ids;
    ids.reserve(text.size() / 3);
    WordEncoder words(model_, text.size(), ids);
    TextParts parts;
    visit(
        text, parts, [&](std::int32_t id) { ids.push_back(id); }, [&](std::string_view word) { words.add(word); });
    return ids;
  }
  /// Added tokens and words, in their order.
  template <class Token, class Word>
  void visit(std::string_view text, TextParts& parts, Token&& token, Word&& word) const {
    const auto each = [&](const std::vector<AddedPart>& found, auto&& between) {
      for (const AddedPart& part : found) {
        if (part.id >= 0)
          token(part.id);
        else
          between(part.text);
      }
    };
    each(raw_added_.parts(text), [&](std::string_view part) {
      parts.at_start = part.data() == text.data();
      each(normalized_added_.parts(normalized(part, parts)), [&](std::string_view rest) { visit_words(rest, parts, word); });
    });
  }
  std::string_view normalized(std::string_view text, TextParts& parts) const {
    if (steps_.normalizers.empty()) return text;
    std::string changed(text);
    for (const NormalizerStep& step : steps_.normalizers) step(changed);
    return parts.keep(std::move(changed));
  }
  template <class Word>
  void visit_words(std::string_view text, TextParts& parts, Word&& word) const {
    if (steps_.gpt2_words) {
      for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = gpt2_word(text.substr(i));
        word(text.substr(i, length));
        i += length;
      }
      return;
    }
    parts.parts.assign(1, text);
    for (const PreTokenizerStep& step : steps_.pre_tokenizers) step(parts);
    for (const std::string_view part : parts.parts)
      if (!part.empty()) word(part);
    parts.at_start = false;
  }

  TokenizerSpec spec_;
  TokenizerSteps steps_;
  TokenizerModel model_;
  TokenPieces pieces_;
  AddedTokenFinder raw_added_, normalized_added_;
  SpecialTokens special_;
  TextFrame frame_;
};

}  // namespace

std::unique_ptr<Tokenizer> pipeline_tokenizer(TokenizerSpec spec, std::string_view where) {
  return std::make_unique<PipelineTokenizer>(std::move(spec), where);
}

}  // namespace addnorm
