// What happens to a text before the model sees words: normalizers change it, pre-tokenizers take it apart, added tokens are found
// in it. And what a token means as text: decoders.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/spec.h"
#include "data/tokenizer/steps/regex.h"
#include "data/tokenizer/steps/unicode.h"

namespace addnorm {

/// Changes a text that is UTF-8.
using NormalizerStep = std::function<void(std::string&)>;

/// The parts of a text: views of the text itself, or of what was made from it.
struct TextParts {
  std::vector<std::string_view> parts{};
  std::deque<std::string> made{};  ///< strings that do not move
  bool at_start = true;            ///< the first part begins the text

  std::string_view keep(std::string text) { return made.emplace_back(std::move(text)); }
};
using PreTokenizerStep = std::function<void(TextParts&)>;

/// The text of a token, from its spelling.
using DecoderStep = std::function<void(std::string& token)>;

/// Where a text may be cut with the same ids: between a character that is not white space and one that is.
struct TextCut {
  /// What may stand before it; nothing: a text is never cut. Letters keep their places in all normal forms, signs may vanish.
  enum class Before { nothing, ascii_word, word, anything };
  Before before = Before::nothing;
  bool only_space = false;  ///< behind it stands U+0020, not just any white space of ASCII
};

/// The steps that a file asks for. `where`: the file, for messages. What we do not have is a DataError.
struct TokenizerSteps {
  std::vector<NormalizerStep> normalizers{};
  std::vector<PreTokenizerStep> pre_tokenizers{};
  std::vector<DecoderStep> decoders{};
  bool byte_level = false;  ///< the last pre-tokenizer is ByteLevel: the model sees bytes
  bool gpt2_words = false;  ///< and the only one, with GPT-2's pattern and no space in front: pre_tokenizers is empty
  bool no_decoder = false;  ///< tokens are separated by spaces
  TextCut cut{};
  std::string begin{}, end{};  ///< tokens that the post-processor puts around a text: the first before it, the last behind it
  std::vector<std::string> before{}, behind{};  ///< all of them
  bool adds_space = false;                      ///< decoders leave a space before the first word that the text did not have
  std::int32_t pad = -1;                        ///< from "padding"
};
TokenizerSteps steps_of(const TokenizerSpec& spec, std::string_view where);

// Normalizers.
void bert_clean(std::string& text);    ///< control characters removed, white space becomes U+0020
void bert_chinese(std::string& text);  ///< spaces around CJK characters
void lower_case(std::string& text);
void remove_marks(std::string& text, bool (*is)(char32_t));
void strip_white(std::string& text, bool left, bool right);
void replace_all(std::string& text, std::string_view from, std::string_view to);
void replace_all(std::string& text, const Regex& pattern, std::string_view to);

// Pre-tokenizers.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
using Spans = std::vector<std::pair<std::size_t, std::size_t>>;

/// Takes each part apart at the spans that `find` gives. `invert`: at what lies between them.
void split_at(TextParts& text, const std::function<Spans(std::string_view)>& find, Behavior behavior, bool invert);
Spans spans_of_characters(std::string_view text, bool (*is)(char32_t));
Spans spans_of_string(std::string_view text, std::string_view what);
Spans spans_of_words(std::string_view text);  ///< \w+|[^\w\s]+
Spans spans_of_gpt2_words(std::string_view text);
void prepend_space(TextParts& text);  ///< where a part does not begin with one
/// Spaces become `replacement`; `first_only`, `always`: put before a part that does not begin with it.
void metaspace(TextParts& text, const std::string& replacement, bool always, bool first_only, bool split);

}  // namespace addnorm
