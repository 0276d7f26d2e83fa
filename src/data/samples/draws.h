// What is drawn at random for a sample, and the order in which samples come: functions of a key, without lists.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "addnorm/core/rng.h"

namespace addnorm {

/// The random numbers of one sample, one after the other: the row `row` of the key's words (core/rng.h: random_word), read from
/// the left. Made anew for each sample, so what is drawn is a function of (key, row) alone.
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

/// An order of 0 ... n - 1 as a function: a Feistel network over the smallest even number of bits that holds n - 1: a bijection
/// whatever its round function is. What comes out at n or above goes in again until it is below (cycle walking), fewer than four
/// times on average; what remains is a bijection of 0 ... n - 1.
class Permutation {
 public:
  Permutation(RandomKey key, std::uint64_t n)
      : key_(key.bits()), n_(n), half_(n < 2 ? 1 : (static_cast<unsigned>(std::bit_width(n - 1)) + 1) / 2) {}

  /// i < n.
  std::uint64_t operator()(std::uint64_t i) const {
    if (n_ < 2) return i;
    do i = network(i);
    while (i >= n_);
    return i;
  }

 private:
  std::uint64_t network(std::uint64_t x) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_) - 1;
    std::uint64_t left = x >> half_, right = x & mask;
    for (std::uint32_t round = 0; round < 8; ++round) {
      const std::uint64_t mixed = philox4x32(key_, {static_cast<std::uint32_t>(right), round, 0, 2})[0];
      const std::uint64_t next = (left ^ mixed) & mask;
      left = right;
      right = next;
    }
    return left << half_ | right;
  }

  std::uint64_t key_, n_;
  unsigned half_;  // bits
};

}  // namespace addnorm
