#include "bench/buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/core/rng.h"

namespace addnorm::bench {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLine = 64;
constexpr std::size_t kStagger = 64 * kLine;  // an array is moved by less than this

/// A block of draws, repeated: drawing gigabytes would take longer than measuring.
const std::vector<float>& draws() {
  static const std::vector<float> values = [] {
    std::vector<float> v(std::size_t{1} << 18);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = 2 * uniform_at(RandomKey(1), i) - 1;
    return v;
  }();
  return values;
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
  for (std::size_t begin = 0; begin < floats; begin += draws().size())
    std::memcpy(array + begin, draws().data(), std::min(draws().size(), floats - begin) * sizeof(float));
  return array;
}

double* Buffers::take_doubles(std::size_t count) {
  auto* array = reinterpret_cast<double*>(take_bytes(count * sizeof(double)));
  std::fill_n(array, count, 0.0);
  return array;
}

}  // namespace addnorm::bench
