#include "addnorm/core/parallel.h"

#include <algorithm>
#include <atomic>

#include "addnorm/core/error.h"
#include "core/system/team.h"

namespace addnorm {
namespace {
std::atomic<int> configured_threads{0};  // 0: not set yet
}

void set_threads(int count) {
  require(count >= 1 && count <= kMaxThreads, "set_threads: ", count, " given, 1 to ", kMaxThreads, " are possible");
  configured_threads.store(count, std::memory_order_relaxed);
}

int threads() {
  int count = configured_threads.load(std::memory_order_relaxed);
  if (count != 0) return count;
  const int offered = std::clamp(team::offered(), 1, kMaxThreads);
  // A call of set_threads in between wins; count is then what it set.
  return configured_threads.compare_exchange_strong(count, offered, std::memory_order_relaxed) ? offered : count;
}

void detail::run_blocks(std::size_t blocks, BlockBody body, void* context) {
  const int most = static_cast<int>(std::min(blocks, static_cast<std::size_t>(threads())));
  if (most <= 1 || team::inside()) {
    for (std::size_t block = 0; block < blocks; ++block) body(context, block);
    return;
  }
  team::run_blocks(most, blocks, body, context);
}

void detail::refuse_empty_blocks() { refuse("parallel_ranges: blocks of 0 elements asked for, at least 1 is needed"); }

std::size_t threads_worth(double multiplications) {
  if (team::inside()) return 1;
  const double shares = multiplications / 0x1p18;
  const auto most = static_cast<std::size_t>(threads());
  return shares < static_cast<double>(most) ? std::max<std::size_t>(1, static_cast<std::size_t>(shares)) : most;
}

void detail::run_tasks(std::size_t tasks, std::size_t most, TaskBody body, void* context) {
  const int workers = static_cast<int>(std::min({tasks, most, static_cast<std::size_t>(threads())}));
  if (workers <= 1 || team::inside()) {
    for (std::size_t task = 0; task < tasks; ++task) body(context, task, 0);
    return;
  }
  team::run_tasks(workers, tasks, body, context);
}

}  // namespace addnorm
