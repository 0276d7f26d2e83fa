// The arena: where the memory of tensors comes from and returns to.
#pragma once

#include <cstddef>

namespace addnorm {

/// What the arena has done so far; all counters start at 0 when the program starts.
struct ArenaStats {
  std::size_t bytes_in_use = 0;   ///< handed out and not yet returned
  std::size_t peak_bytes = 0;     ///< highest bytes_in_use so far
  std::size_t bytes_mapped = 0;   ///< taken from the system so far; constant from the second step of a training loop on
};

/// Memory of at least `bytes` bytes, aligned to 64. Thread-safe. Throws std::bad_alloc when the system has no more.
void* arena_take(std::size_t bytes);
/// Returns what arena_take(bytes) gave.
void arena_give_back(void* memory, std::size_t bytes) noexcept;

ArenaStats arena_stats();

}  // namespace addnorm
