// Text from elsewhere in a message or on a terminal: control characters and the like are escaped.
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

/// Escapes what is not printable and bytes that are not UTF-8: names and texts of files, on one line. Kept line breaks
/// (and tabs, but never \r, which writes over the line) are for our own texts of several lines. Escaping twice
/// changes nothing: backslashes are left alone.
std::string printable(std::string text, LineBreaks breaks = LineBreaks::written_out);

}  // namespace addnorm
