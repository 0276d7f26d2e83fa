// Four lanes of 16 bytes: each step multiplies two words of 64 bits to 128 and adds the halves' xor to the lane. The lane goes on
// beside the product, so that a word that makes a factor zero does not wipe out what came before.
#include <bit>
#include <cstring>

#include "data/hash64.h"

namespace addnorm {
namespace {

__extension__ using Wide = unsigned __int128;

// Fractions of the square roots of the first primes, made odd.
constexpr std::uint64_t kRoots[4] = {0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1};

std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t word(const unsigned char* at) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void take(std::uint64_t (&lanes)[4], const unsigned char* stripe) {
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint64_t product = folded(word(stripe + 16 * i) ^ kRoots[i], word(stripe + 16 * i + 8) ^ lanes[i]);
    lanes[i] = std::rotl(lanes[i], 27) + product;
  }
}

}  // namespace

std::uint64_t hash64(const void* data, std::size_t bytes, std::uint64_t seed) {
  const auto* next = static_cast<const unsigned char*>(data);
  std::uint64_t lanes[4];
  for (unsigned i = 0; i < 4; ++i) lanes[i] = folded(seed ^ kRoots[i], bytes ^ kRoots[3 - i]) + i;
  std::size_t left = bytes;
  for (; left >= 64; left -= 64, next += 64) take(lanes, next);
  if (left > 0) {
    unsigned char rest[64] = {};
    std::memcpy(rest, next, left);
    take(lanes, rest);
  }
  std::uint64_t hash = seed ^ bytes;
  for (unsigned i = 0; i < 4; ++i) hash = folded(hash ^ lanes[i], kRoots[i]) + std::rotl(lanes[i], static_cast<int>(16 * i + 1));
  return folded(hash, kRoots[0]) ^ hash;
}

}  // namespace addnorm
