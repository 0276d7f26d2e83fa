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

class JsonPlace;

/// A DataError where the step that `at` names needs to know characters beyond ASCII, and this build does not.
void require_unicode(const JsonPlace& at);

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
  bool only_space = false;  ///< only before U+0020, not before other white space of ASCII
};

/// The steps that a file asks for. `where`: the file, for messages. What is not supported is a DataError.
struct TokenizerSteps {
  std::vector<NormalizerStep> normalizers{};
  std::vector<PreTokenizerStep> pre_tokenizers{};
  std::vector<DecoderStep> decoders{};
  bool byte_level = false;  ///< the last pre-tokenizer is ByteLevel: the model sees bytes
  bool gpt2_words = false;  ///< and the only one, with GPT-2's pattern and no space in front: pre_tokenizers is empty
  bool no_decoder = false;  ///< tokens are separated by spaces
  TextCut cut{};
  std::string begin{}, end{};  ///< tokens that the post-processor puts around a text: the first before it, the last after it
  std::vector<std::string> before{}, after{};  ///< all of them
  bool adds_space = false;                     ///< decoders leave a space before the first word that the text did not have
  std::int32_t pad = -1;                       ///< from "padding"
};
TokenizerSteps steps_of(const TokenizerSpec& spec, std::string_view where);

// ---- between the files of this folder: what the JSON of each part asks for; unsupported kinds are refused by name ----

/// What steps say of where a text may be cut.
struct CutFacts {
  bool splits = false;           ///< words end where white space begins
  bool whole = false;            ///< something looks at the text as a whole
  bool needs_same_text = false;  ///< what stands before the white space matters, and normalizers may change it
  bool needs_word = false;       ///< a letter or number must stand there
  bool only_space = false;
};

void add_normalizer(const JsonPlace& at, TokenizerSteps& steps, CutFacts& cuts);
void add_pre_tokenizer(const JsonPlace& at, TokenizerSteps& steps, CutFacts& cuts);
void add_decoder(const JsonPlace& at, TokenizerSteps& steps);

/// Of a normalizer or a decoder: all of `pattern` become `content`.
using TextChange = std::function<void(std::string&)>;
TextChange replacement_of(const JsonPlace& at);

/// Compiled; one that Oniguruma does not take is a DataError that names the place.
std::shared_ptr<const Regex> regex_of(const JsonPlace& at);

void replace_all(std::string& text, std::string_view from, std::string_view to);
void replace_all(std::string& text, const Regex& pattern, std::string_view to);

}  // namespace addnorm
