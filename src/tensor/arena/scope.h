// What holds while a scope is open: what a buffer knows about the ArenaScope it was made in, and where gradients of weights,
// which appear as activations are freed, find their memory. Internal.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "addnorm/tensor/arena.h"

namespace addnorm {

struct ArenaScope::Record {
  std::atomic<bool> ended{false};
  std::atomic<std::size_t> bytes_alive{0};
  bool outside = false;           // of OutsideArenaScopes: tensors made under it belong to no scope
  std::shared_ptr<Record> outer;  // the next one of the thread that opened it; touched by that thread only
};

/// The innermost scope open on this thread, or null.
std::shared_ptr<ArenaScope::Record> current_arena_scope();

class Tensor;
/// From now on it belongs to no scope. Only for one whose buffer is not shared.
void leave_arena_scope(Tensor& tensor);

/// While it lives, a large request on this thread whose own size class has no free block is served by a free block of a larger
/// class, before more memory is asked for; when it is returned, the block is one of its own class again. Only for what is made
/// while memory is becoming free: what lives long would otherwise keep blocks that others need again soon.
class BorrowLargerBlocks {
 public:
  BorrowLargerBlocks() { ++depth(); }
  ~BorrowLargerBlocks() { --depth(); }
  BorrowLargerBlocks(const BorrowLargerBlocks&) = delete;
  BorrowLargerBlocks& operator=(const BorrowLargerBlocks&) = delete;

  static bool allowed() { return depth() > 0; }

 private:
  static int& depth() {
    static thread_local int count = 0;
    return count;
  }
};

}  // namespace addnorm
