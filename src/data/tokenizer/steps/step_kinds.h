// What the JSON of a tokenizer's parts asks for, part by part. Kinds that we do not have are refused by name.
#pragma once

#include <memory>
#include <string>

#include "data/tokenizer/json.h"
#include "data/tokenizer/steps/steps.h"

namespace addnorm {

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

}  // namespace addnorm
