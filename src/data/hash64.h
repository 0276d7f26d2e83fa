// A fast hash of bytes, for noticing changes: not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace addnorm {

/// A function of the bytes, their number and the seed; the same on every machine. About 20 GB/s. Blocks are chained by handing
/// the hash of one on as the seed of the next.
std::uint64_t hash64(const void* data, std::size_t bytes, std::uint64_t seed);
inline std::uint64_t hash64(std::string_view text, std::uint64_t seed) { return hash64(text.data(), text.size(), seed); }

}  // namespace addnorm
