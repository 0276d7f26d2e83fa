// Draws: the random numbers of one sample, one after the other.
#pragma once

#include <array>
#include <cstdint>

#include "addnorm/core/rng.h"

namespace addnorm {

/// The row `row` of the key's words (core/rng.h: random_word), read from the left. Made anew for each sample, so what is drawn is
/// a function of (key, row) alone.
class Draws {
 public:
  Draws(RandomKey key, std::uint64_t row) : key_(key.bits()), row_(row) {}

  std::uint32_t word() {
    const std::uint32_t column = column_++;
    if (column % 4 == 0)
      block_ = philox4x32(key_, {column / 4, static_cast<std::uint32_t>(row_), static_cast<std::uint32_t>(row_ >> 32), 0});
    return block_[column % 4];
  }
  /// In [0, 1), 53 bits.
  double uniform() {
    const std::uint64_t high = word();
    return static_cast<double>((high << 32 | word()) >> 11) * 0x1p-53;
  }
  /// 0 ... n - 1, each as probable as the others to within 2^-32; n > 0.
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(std::uint64_t{word()} * n >> 32); }
  /// least ... most.
  std::size_t between(std::size_t least, std::size_t most) { return least + below(static_cast<std::uint32_t>(most - least + 1)); }

 private:
  std::uint64_t key_, row_;
  std::uint32_t column_ = 0;
  std::array<std::uint32_t, 4> block_{};
};

}  // namespace addnorm
