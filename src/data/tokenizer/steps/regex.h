// Regular expressions of a tokenizer.json, run by Oniguruma: the library whose dialect such files are written in. Its source file
// is chosen by ADDNORM_PATTERNS (cmake/platform.cmake); without it no pattern can be read.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace addnorm {

/// The dialect is Oniguruma's own, without callouts. Its character classes are those of the Unicode that Oniguruma was made for:
/// 14.0 in version 6.9.8. unicode.h has those of ICU (15.0 in ICU 72). The two differ in characters that are new in Unicode 15
/// and in nothing else: 4348 letters, 40 numbers, 42 marks, 23 of punctuation and 29 symbols, which are unassigned to a pattern.
/// (Beside that, \p{Alphabetic} lacks U+0C04, U+0F82, U+0F83, U+11080 and U+11081.) \s is the same in both.
///
/// Threads may share one.
class Regex {
 public:
  /// A pattern that cannot be read is a DataError, which gives the reason; so is one that matches an empty piece of a short text.
  explicit Regex(std::string_view pattern);
  Regex(Regex&&) noexcept;
  ~Regex();
  /// First byte of each match and the byte after its last. In a text that is not UTF-8, what is no character counts as U+FFFD.
  /// A DataError names the pattern where a match is empty, and where a match takes more than some 33 million steps back (about a
  /// second) or 16 million places to go back to (half a gigabyte).
  std::vector<std::pair<std::size_t, std::size_t>> matches(std::string_view text) const;

 private:
  struct Pattern;
  std::unique_ptr<const Pattern> pattern_;
};

}  // namespace addnorm
