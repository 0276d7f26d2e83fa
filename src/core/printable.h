// Text from elsewhere in a message or on a terminal: control characters and the like are escaped.
#pragma once

#include <cstddef>
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

/// The first few of many names, on one line whatever they are: "a, b, c, d, e, f, and 95 more".
class FirstFew {
 public:
  void add(const std::string& text) {
    if (++count_ <= kShown) text_.append(text_.empty() ? "" : ", ").append(printable(text));
  }
  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  std::string text() const { return count_ <= kShown ? text_ : text_ + ", and " + std::to_string(count_ - kShown) + " more"; }

 private:
  static constexpr std::size_t kShown = 6;
  std::string text_;
  std::size_t count_ = 0;
};

}  // namespace addnorm
