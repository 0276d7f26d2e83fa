// The arena: where the memory of tensors comes from and returns to.
//
// Blocks are carved from large ranges of address space that use huge pages where the system has them. A returned block goes
// to the free list of its size class and is the first to be handed out again, so a loop that repeats its requests maps no
// page and takes no page fault from its second turn on. Sizes are rounded up by at most 12.5 %, the gap that staggers
// neighbours included (below 1 KiB: to 64 bytes). Blocks of equal size start at different offsets within a page: arrays
// that are read together do not fight for the same cache sets.
#pragma once

#include <cstddef>
#include <memory>

namespace addnorm {

/// What the arena has done so far; all counters start at 0 when the program starts.
struct ArenaStats {
  std::size_t bytes_in_use = 0;  ///< asked for and not yet returned, without rounding
  std::size_t peak_bytes = 0;    ///< highest bytes_in_use so far
  std::size_t bytes_mapped = 0;  ///< made accessible by the system; constant from the second step of a training loop on
  std::size_t bytes_carved = 0;  ///< blocks in use and in the free lists, rounding included; settles within some steps
};

/// Memory of at least `bytes` bytes (0 is fine), aligned to 64, not initialised. Thread-safe. When the system has no more,
/// free blocks are first given back to it; then Error says what was asked for and what is in use.
void* arena_take(std::size_t bytes);
/// The same, all bytes 0. Pages that were never used come as zeros and stay untouched here: the first write pays the
/// page faults, possibly on many threads at once.
void* arena_take_zeroed(std::size_t bytes);
/// Returns what arena_take(bytes) or arena_take_zeroed(bytes) gave. Never allocates.
void arena_give_back(void* memory, std::size_t bytes) noexcept;

/// Gives the memory of all free blocks back to the system. For the end of a phase (a model is gone, another size follows);
/// the next step pays the page faults again.
void arena_trim();

ArenaStats arena_stats();

/// A stretch of work (a training step, one run of a grid) whose tensors end with it. A Tensor made on this thread while
/// the scope was the innermost one belongs to it; reading it after the scope has ended throws UsageError, in every build.
/// Its memory stays its own until the last reference goes: a forgotten reference costs memory, but never reads what another
/// tensor wrote. Scopes nest; they may end in any order, also on another thread than the one that opened them: a new tensor
/// belongs to the innermost that is still open. Gradients of leaves belong to no scope (autograd/tape.h).
class ArenaScope {
 public:
  ArenaScope();
  ~ArenaScope();
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

  /// Bytes of tensors made in this scope that are still referenced; 0 shows that a step kept nothing.
  std::size_t bytes_alive() const;

  struct Record;  // shared with the buffers made inside

 private:
  std::shared_ptr<Record> record_;
};

/// While it lives, tensors made on this thread belong to no scope: for what a step makes and later steps need (a running
/// average, the state an optimizer creates at its first update).
class OutsideArenaScopes {
 public:
  OutsideArenaScopes();
  ~OutsideArenaScopes();
  OutsideArenaScopes(const OutsideArenaScopes&) = delete;
  OutsideArenaScopes& operator=(const OutsideArenaScopes&) = delete;

 private:
  std::shared_ptr<ArenaScope::Record> record_;
};

}  // namespace addnorm
