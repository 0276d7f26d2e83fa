// Size classes of the arena: which block serves a request of a given size.
#pragma once

#include <bit>
#include <cstddef>

namespace addnorm {

inline constexpr std::size_t kCacheLine = 64;
inline constexpr std::size_t kClassesPerDoubling = 16;
inline constexpr std::size_t kLinearLimit = kCacheLine * kClassesPerDoubling;    // up to here every multiple of 64
inline constexpr std::size_t kAddressBits = sizeof(std::size_t) == 8 ? 46 : 31;  // 46: more than an x86 of today can map at once
inline constexpr std::size_t kLargestRequest = std::size_t{1} << kAddressBits;
inline constexpr std::size_t kSizeClasses = kClassesPerDoubling * (kAddressBits - 10 + 1);

/// Index of the smallest class that holds `bytes` (<= kLargestRequest).
constexpr std::size_t size_class_of(std::size_t bytes) {
  if (bytes <= kLinearLimit) return bytes == 0 ? 0 : (bytes - 1) / kCacheLine;
  const auto doubling = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;  // 2^doubling < bytes <= 2^(doubling+1)
  const std::size_t step = (std::size_t{1} << doubling) / kClassesPerDoubling;
  return kClassesPerDoubling * (doubling - 9) + (bytes - 1) / step - kClassesPerDoubling;
}

/// Usable bytes of a class: a multiple of 64, at most 1/16 above what it is chosen for.
constexpr std::size_t size_of_class(std::size_t index) {
  if (index < kClassesPerDoubling) return (index + 1) * kCacheLine;
  const std::size_t low = kLinearLimit << (index / kClassesPerDoubling - 1);
  return low + (index % kClassesPerDoubling + 1) * (low / kClassesPerDoubling);
}

/// Distance between neighbouring blocks of a class. Without the gap, blocks of 2^k bytes would all start at the same offset
/// within a page, and arrays read side by side would meet in the same cache sets and store buffers. An odd number of lines
/// visits every offset; 25 of the 64 lines of a page puts the next few neighbours far apart from each other.
constexpr std::size_t stride_of_class(std::size_t index) {
  const std::size_t size = size_of_class(index);
  return size + (size < 4096 ? 0 : size < 32768 ? 3 : 25) * kCacheLine;
}

}  // namespace addnorm
