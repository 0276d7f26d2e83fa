// Text from elsewhere in a message or on a terminal: what commands a terminal instead of being seen is written out.
#pragma once

#include <string>

#include "core/utf8.h"

namespace addnorm {

/// False for control characters (those beyond ASCII included), for line and paragraph separators, and for marks that turn the
/// direction of writing, by which a name can look like another.
bool is_printable(char32_t code);

/// What stands for the character that begins with `byte` and is not printable, or for a byte that is not UTF-8 (its length is 0):
/// \n, \r, \t, \x1b, \u202e.
std::string written_out(Utf8Char character, char byte);

enum class LineBreaks : unsigned char { written_out, kept };

/// With what is not printable, and bytes that are not UTF-8, written out: names and texts of files, on one line. Kept line breaks
/// (and tabs, but never \r, which writes over the line) are for texts of ours that have several lines. What was written out stays
/// as it is when that is done again: backslashes are left alone.
std::string printable(std::string text, LineBreaks breaks = LineBreaks::written_out);

}  // namespace addnorm
