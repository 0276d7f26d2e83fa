// Parallel loops over fixed blocks: what a block computes never depends on the number of threads.
#pragma once

#include <cstddef>
#include <type_traits>

namespace addnorm {

/// How many threads the library uses; 1 or more. Starts as what OpenMP offers at first use. Not per thread: set it
/// while no kernel runs.
void set_threads(int count);
int threads();

namespace detail {
using BlockBody = void (*)(void* context, std::size_t block);
void run_blocks(std::size_t blocks, BlockBody body, void* context);
}  // namespace detail

/// body(block) for every block in [0, blocks), each exactly once, on up to threads() threads; returns when all are done.
/// Blocks must write to separate places. The body must not throw. Nested calls run serially on the calling thread.
template <class Body>
void parallel_blocks(std::size_t blocks, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  detail::run_blocks(
      blocks, [](void* context, std::size_t block) { (*static_cast<Plain*>(context))(block); },
      const_cast<std::remove_const_t<Plain>*>(&body));
}

/// [0, count) cut into blocks of `size`: body(begin, end). The last one may be shorter.
template <class Body>
void parallel_ranges(std::size_t count, std::size_t size, Body&& body) {
  if (count == 0) return;
  parallel_blocks((count + size - 1) / size, [&](std::size_t block) {
    const std::size_t begin = block * size;
    body(begin, count - begin < size ? count : begin + size);
  });
}

}  // namespace addnorm
