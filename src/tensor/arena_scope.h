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
};

/// The innermost scope open on this thread, or null.
const std::shared_ptr<ArenaScope::Record>& current_arena_scope();

}  // namespace addnorm
