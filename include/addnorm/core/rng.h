// Counter-based random numbers: a value is a pure function of (key, position), so no state is ever lost or shared.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace addnorm {

/// Where a random value comes from: a seed, refined by names and numbers ("blocks.3.attn", step 17).
///
///   RandomKey key = RandomKey(seed).with("blocks.3.attn.dropout").with(step);
///
/// Keys of different paths are independent streams for practical purposes (64-bit mixing of SplitMix64).
class RandomKey {
 public:
  constexpr explicit RandomKey(std::uint64_t seed) : bits_(mix(seed)) {}
  constexpr RandomKey with(std::uint64_t number) const { return RandomKey(bits_ ^ mix(number + 0x632be59bd9b4e019u)); }
  constexpr RandomKey with(std::string_view name) const {
    std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return RandomKey(bits_ ^ hash);
  }
  constexpr std::uint64_t bits() const { return bits_; }
  static constexpr RandomKey of_bits(std::uint64_t bits) {  ///< the key whose bits() these are
    RandomKey key(0);
    key.bits_ = bits;
    return key;
  }

 private:
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t bits_;
};

/// Philox4x32-10 (Salmon et al., SC 2011): four 32-bit words from a 128-bit counter and a 64-bit key.
constexpr std::array<std::uint32_t, 4> philox4x32(std::uint64_t key, std::array<std::uint32_t, 4> counter) {
  auto k0 = static_cast<std::uint32_t>(key);
  auto k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ k0, static_cast<std::uint32_t>(p1),
               static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ k1, static_cast<std::uint32_t>(p0)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return counter;
}

/// The random word that belongs to (row, column): word column % 4 of the block with counter (column / 4, row, 0).
/// Element-wise kernels with dropout use exactly this, so a mask does not depend on threads or on how rows are batched.
constexpr std::uint32_t random_word(std::uint64_t key, std::uint64_t row, std::uint32_t column) {
  return philox4x32(key, {column / 4, static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(row >> 32), 0})[column % 4];
}

/// 24 bits of a word as a float in [0, 1): every value is exact.
constexpr float to_uniform(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

/// A word that stays below this is dropped: P(drop) = p to within 2^-32, for p in [0, 1). Callers check p; what is below
/// (or NaN) drops nothing, what is above all but one word in 2^32.
constexpr std::uint32_t drop_threshold(float p) {
  if (!(p > 0)) return 0;
  const double scaled = static_cast<double>(p) * 4294967296.0;
  return scaled >= 4294967295.0 ? 0xffffffffu : static_cast<std::uint32_t>(scaled);
}

/// What is kept is multiplied by this, so that the expectation stays the same; p in [0, 1).
constexpr double keep_scale(float p) { return 1.0 / (1.0 - static_cast<double>(p)); }

/// Uniform in [0, 1) and standard normal (Box-Muller in double) for element `index` of a stream.
float uniform_at(RandomKey key, std::uint64_t index);
float normal_at(RandomKey key, std::uint64_t index);

}  // namespace addnorm
