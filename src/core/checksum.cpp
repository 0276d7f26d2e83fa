#include "core/checksum.h"

#include <algorithm>
#include <cstring>

namespace addnorm {
namespace {

std::uint64_t mix(std::uint64_t v) {
  v *= 0x9e3779b97f4a7c15U;
  v ^= v >> 32;
  return v * 0xd6e8feb86659fd93U;
}

}  // namespace

Checksum::Checksum() {
  for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i] = mix(i + 1);
}

void Checksum::add_row(const std::byte* row) {
  std::array<std::uint64_t, 8> words{};
  std::memcpy(words.data(), row, kRow);
  for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i] = mix(lanes_[i] ^ words[i]);
}

void Checksum::add(const void* bytes, std::size_t count) {
  if (count == 0) return;
  const auto* next = static_cast<const std::byte*>(bytes);
  const auto* const end = next + count;
  const auto held = static_cast<std::size_t>(count_ % kRow);
  count_ += count;
  if (held > 0) {
    const std::size_t taken = std::min(kRow - held, count);
    std::memcpy(begun_.data() + held, next, taken);
    next += taken;
    if (held + taken < kRow) return;
    add_row(begun_.data());
  }
  for (; static_cast<std::size_t>(end - next) >= kRow; next += kRow) add_row(next);
  std::copy(next, end, begun_.begin());
}

std::uint64_t Checksum::value() const {
  Checksum last = *this;
  const auto held = static_cast<std::size_t>(count_ % kRow);
  const std::size_t words = (held + 7) / 8;
  std::fill(last.begun_.begin() + static_cast<std::ptrdiff_t>(held), last.begun_.end(), std::byte{0});
  for (std::size_t i = 0; i < words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, last.begun_.data() + 8 * i, 8);
    last.lanes_[i] = mix(last.lanes_[i] ^ word);
  }
  std::uint64_t h = mix(count_);
  for (const std::uint64_t lane : last.lanes_) h = mix(h ^ lane);
  return h ^ (h >> 32);
}

std::uint64_t checksum(const void* bytes, std::size_t count) {
  Checksum sum;
  sum.add(bytes, count);
  return sum.value();
}

std::string as_hex(std::uint64_t value) {
  std::string digits(16, '0');
  for (std::size_t i = 0; i < digits.size(); ++i) digits[15 - i] = "0123456789abcdef"[(value >> (4 * i)) & 15];
  return digits;
}

}  // namespace addnorm
