// Regular expressions of tokenizer.json are written for Oniguruma, in Ruby's form; ours are run by ICU.
#pragma once

#include <string>
#include <string_view>

namespace addnorm {

/// The pattern as ICU has to be given it: \w is spelled out, for the two disagree on what it is. Of the rest only what both read
/// alike passes (character classes, properties, groups, look-around, repetition); a DataError names everything else and its
/// place.
std::string pattern_for_icu(std::string_view pattern);

}  // namespace addnorm
