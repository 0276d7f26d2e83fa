#include "tensor/arena_scope.h"

#include <utility>

namespace addnorm {
namespace {
thread_local std::shared_ptr<ArenaScope::Record> innermost;
}

const std::shared_ptr<ArenaScope::Record>& current_arena_scope() { return innermost; }

ArenaScope::ArenaScope() : record_(std::make_shared<Record>()), outer_(std::exchange(innermost, record_)) {}

ArenaScope::~ArenaScope() {
  record_->ended.store(true, std::memory_order_release);
  innermost = std::move(outer_);
}

std::size_t ArenaScope::bytes_alive() const { return record_->bytes_alive.load(std::memory_order_relaxed); }

OutsideArenaScopes::OutsideArenaScopes() : interrupted_(std::exchange(innermost, nullptr)) {}
OutsideArenaScopes::~OutsideArenaScopes() { innermost = std::move(interrupted_); }

}  // namespace addnorm
