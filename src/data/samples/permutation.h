// Permutation: an order of 0 ... n - 1 as a function, without a list.
#pragma once

#include <bit>
#include <cstdint>

#include "addnorm/core/rng.h"

namespace addnorm {

/// A Feistel network over the smallest even number of bits that holds n - 1: a bijection whatever its round function is. What
/// comes out at n or above goes in again until it is below (cycle walking), fewer than four times on average; what remains is a
/// bijection of 0 ... n - 1.
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
