#include "tensor/arena/scope.h"

#include <utility>

namespace addnorm {
namespace {

using Record = ArenaScope::Record;

/// The records opened on this thread, innermost first, linked by `outer`. Ended ones are removed at the next opening or
/// end of a scope on this thread, and from the front at each lookup.
thread_local std::shared_ptr<Record> innermost;

void drop(std::shared_ptr<Record>& link) {
  const std::shared_ptr<Record> gone = std::move(link);
  link = std::move(gone->outer);
}

/// Removes all ended records, wherever they are: scopes that overlap like a chain leave no chain of dead records.
void prune() {
  for (std::shared_ptr<Record>* link = &innermost; *link;)
    if ((*link)->ended.load(std::memory_order_acquire))
      drop(*link);
    else
      link = &(*link)->outer;
}

std::shared_ptr<Record> opened(bool outside) {
  prune();  // of those that other threads have ended
  auto record = std::make_shared<Record>();
  record->outside = outside;
  record->outer = innermost;
  return innermost = std::move(record);
}

void close(Record& record) {
  record.ended.store(true, std::memory_order_release);
  prune();
}

}  // namespace

std::shared_ptr<Record> current_arena_scope() {
  while (innermost && innermost->ended.load(std::memory_order_acquire)) drop(innermost);  // ended on another thread
  return innermost && !innermost->outside ? innermost : nullptr;
}

ArenaScope::ArenaScope() : record_(opened(false)) {}
ArenaScope::~ArenaScope() { close(*record_); }

std::size_t ArenaScope::bytes_alive() const { return record_->bytes_alive.load(std::memory_order_relaxed); }

OutsideArenaScopes::OutsideArenaScopes() : record_(opened(true)) {}
OutsideArenaScopes::~OutsideArenaScopes() { close(*record_); }

}  // namespace addnorm
