// Byte-level vocabularies: bytes spelled as characters, and the words that GPT-2 cuts a text into.
#pragma once

#include <string>
#include <string_view>

#include "core/utf8.h"
#include "data/tokenizer/steps/unicode.h"

namespace addnorm {

/// GPT-2's pattern, as files spell it.
inline constexpr std::string_view kGpt2Pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// The character that stands for a byte in byte-level vocabularies: itself where it can be printed, else U+0100 and following.
char32_t byte_character(unsigned char byte);

/// The bytes that the characters of a token stand for. A token with another character (one that was added) stands for itself.
std::string bytes_of_characters(std::string_view token);

/// The length of the word at the beginning of `text` (not empty) as kGpt2Pattern finds it. Bytes that are not UTF-8 count as
/// characters that are neither letter, number nor white space.
std::size_t gpt2_word(std::string_view text);

}  // namespace addnorm
