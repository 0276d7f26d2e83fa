// What a buffer knows about the ArenaScope it was made in.
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

}  // namespace addnorm
