#include "bench/machine/buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>

#include "addnorm/core/error.h"
#include "addnorm/core/rng.h"

namespace addnorm::bench {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLine = 64;
constexpr std::size_t kStagger = 64 * kLine;  // an array is moved by less than this

/// Simple, because gigabytes are drawn: 2 ns each, where Philox takes 8. The upper bits of its words are the good ones.
using Draws = std::linear_congruential_engine<std::uint64_t, 6364136223846793005u, 1442695040888963407u, 0>;  // Knuth's MMIX

/// No two arrays of this process hold the same numbers: what a loop writes is then as varied as what a kernel writes. Some
/// processors write zeros faster than anything else, and x - f is zero where x and f are the same.
Draws next_draws() {
  static std::atomic<std::uint64_t> arrays{0};
  return Draws(RandomKey(1).with(arrays++).bits());
}

}  // namespace

Buffers::Buffers(std::size_t bytes, std::size_t arrays) {
  size_ = (bytes + arrays * (kStagger + kLine) + kHugePage - 1) / kHugePage * kHugePage + kHugePage;
  void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw Error(concat("bench: no memory for ", size_ >> 20, " MiB of arrays"));
  madvise(memory, size_, MADV_HUGEPAGE);  // advice only: where it is refused, small pages serve
  base_ = static_cast<std::byte*>(memory);
}

Buffers::~Buffers() { munmap(base_, size_); }

std::byte* Buffers::take_bytes(std::size_t bytes) {
  used_ = (used_ + kLine - 1) / kLine * kLine + 13 * taken_ % 64 * kLine;
  ++taken_;
  require(used_ + bytes <= size_, "bench: arrays of more than ", size_, " bytes taken");
  std::byte* array = base_ + used_;
  used_ += bytes;
  return array;
}

float* Buffers::take(std::size_t floats) {
  auto* array = reinterpret_cast<float*>(take_bytes(floats * sizeof(float)));
  Draws draws = next_draws();
  std::generate_n(array, floats, [&] { return 2 * to_uniform(static_cast<std::uint32_t>(draws() >> 32)) - 1; });
  return array;
}

double* Buffers::take_doubles(std::size_t count) {
  auto* array = reinterpret_cast<double*>(take_bytes(count * sizeof(double)));
  std::fill_n(array, count, 0.0);
  return array;
}

}  // namespace addnorm::bench
