// Memory for measurements: huge pages, touched beforehand, arrays staggered.
#pragma once

#include <cstddef>

namespace addnorm::bench {

/// One mapping from which arrays are taken one after another; all of it is freed together.
///
/// Arrays are 64-byte aligned and start at ever different offsets within a page and within 2 MiB: arrays that all start on
/// such a boundary fall into the same cache sets and made cache-resident shapes 1.4-2 times slower.
class Buffers {
 public:
  /// Room for `arrays` arrays of `bytes` in total. Throws Error when the system gives no memory.
  Buffers(std::size_t bytes, std::size_t arrays);
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  float* take(std::size_t floats);  ///< holds random numbers in [-1, 1), of its own
  double* take_doubles(std::size_t count);

 private:
  std::byte* take_bytes(std::size_t bytes);
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace addnorm::bench
