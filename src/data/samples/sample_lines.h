// On which line of a file each sample stands, for messages about samples when the lines are gone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "addnorm/core/error.h"

namespace addnorm {

/// Only samples that do not stand on the line behind the one before take memory.
class SampleLines {
 public:
  explicit SampleLines(std::filesystem::path file) : file_(std::move(file)) {}

  void add(std::uint64_t line) {  ///< of the next sample
    if (jumps_.empty() || of(samples_) != line) jumps_.push_back({samples_, line});
    ++samples_;
  }
  std::uint64_t of(std::uint64_t sample) const {
    const auto behind = std::ranges::upper_bound(jumps_, sample, {}, &Jump::sample);
    const Jump& last = *std::prev(behind);
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
