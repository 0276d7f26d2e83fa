// Lines of a text file, one by one: their tokens, and on which of them each sample stands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/data/progress.h"
#include "addnorm/data/tokenizer.h"
#include "core/checksum.h"
#include "core/file.h"

namespace addnorm {

/// Lines end with LF or CRLF, the last one also with the file. A mark at the beginning that says "UTF-8" is left out; a file that
/// begins like something packed or like UTF-16 is a DataError that says what to do, and so is a line longer than 16 MiB.
class Lines {
 public:
  /// `progress` is asked before each piece of the file. `before` goes into the checksum first.
  explicit Lines(const std::filesystem::path& path, Progress progress = {}, std::string_view before = "");

  /// False: there are no more, or it was stopped. What `line` shows lasts until the next call.
  bool next(std::string_view& line);
  bool stopped() const { return stopped_; }
  std::uint64_t checksum() const { return sum_.value(); }  ///< of `before` and all bytes read so far
  std::uint64_t number() const { return number_; }         ///< of the line, from 1 on
  /// Throws a DataError that begins with "pairs.tsv:7: ".
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    fail_with(concat(parts...));
  }

 private:
  [[noreturn]] void fail_with(const std::string& message) const;
  bool fill();

  InputFile file_;
  Progress progress_;
  Checksum sum_;
  bool stopped_ = false;
  std::string buffer_;
  std::size_t begin_ = 0;     // in the buffer, of what is not yet given
  std::uint64_t offset_ = 0;  // in the file, of the end of the buffer
  std::uint64_t number_ = 0;
};

/// `text` as a message shows it: control characters as '?', cut after 40 bytes.
std::string shown(std::string_view text);
std::string_view trimmed(std::string_view text);  ///< without spaces and tabs at its ends

/// Tokens of a part of the line; errors name the line.
std::vector<std::int32_t> line_tokens(const Lines& lines, const Tokenizer& tokenizer, std::string_view text);
/// Samples are numbered with 32 bits: a DataError where there are more.
void check_count(const Lines& lines, std::size_t samples);

/// On which line of a file each sample stands, for messages about samples when the lines are gone. Only samples that do not stand
/// on the line after the previous one take memory.
class SampleLines {
 public:
  explicit SampleLines(std::filesystem::path file) : file_(std::move(file)) {}

  void add(std::uint64_t line) {  ///< of the next sample
    if (jumps_.empty() || of(samples_) != line) jumps_.push_back({samples_, line});
    ++samples_;
  }
  std::uint64_t of(std::uint64_t sample) const {
    const auto next = std::ranges::upper_bound(jumps_, sample, {}, &Jump::sample);
    const Jump& last = *std::prev(next);
    return last.line + (sample - last.sample);
  }
  /// Throws a DataError that begins with "pairs.tsv:7: ".
  template <class... Parts>
  [[noreturn]] void fail(std::uint64_t sample, const Parts&... parts) const {
    throw DataError(concat(file_.string(), ":", of(sample), ": ", parts...));
  }

 private:
  struct Jump {
    std::uint64_t sample, line;
  };
  std::filesystem::path file_;
  std::uint64_t samples_ = 0;
  std::vector<Jump> jumps_;  // where the line is not that of the sample before and 1; the first sample always
};

}  // namespace addnorm
