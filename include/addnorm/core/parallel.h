// Parallel loops over fixed blocks: what a block computes never depends on the number of threads.
#pragma once

#include <cstddef>
#include <type_traits>

namespace addnorm {

inline constexpr int kMaxThreads = 1024;

/// How many threads the library uses, 1 to kMaxThreads; another number is a UsageError. Starts as what OpenMP offers at first
/// use. Not per thread: set it while no kernel runs.
void set_threads(int count);
int threads();

namespace detail {
using BlockBody = void (*)(void* context, std::size_t block);
void run_blocks(std::size_t blocks, BlockBody body, void* context);
using TaskBody = void (*)(void* context, std::size_t task, std::size_t worker);
void run_tasks(std::size_t tasks, std::size_t team, TaskBody body, void* context);
[[noreturn]] void refuse_empty_blocks();
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

/// body(task, worker) for every task in [0, tasks), each exactly once, handed out one by one in this order to the next
/// free thread: for tasks of unequal cost, the long ones first. worker < threads() names scratch memory: two tasks with the same
/// worker never run at the same time. What a task computes must not depend on its worker. At most `team` threads take part.
/// Otherwise as parallel_blocks.
template <class Body>
void parallel_tasks(std::size_t tasks, std::size_t team, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  detail::run_tasks(
      tasks, team, [](void* context, std::size_t task, std::size_t worker) { (*static_cast<Plain*>(context))(task, worker); },
      const_cast<std::remove_const_t<Plain>*>(&body));
}

template <class Body>
void parallel_tasks(std::size_t tasks, Body&& body) {
  parallel_tasks(tasks, static_cast<std::size_t>(threads()), body);
}

/// How many threads are worth waking for this many multiplications, at least 1 and at most threads(): a share of less than 2^18
/// costs less than the wake-up. 1 inside a parallel loop.
std::size_t threads_worth(double multiplications);

/// [0, count) cut into blocks of `size`, 0 being a UsageError: body(begin, end). The last one may be shorter.
template <class Body>
void parallel_ranges(std::size_t count, std::size_t size, Body&& body) {
  if (size == 0) [[unlikely]]
    detail::refuse_empty_blocks();
  parallel_blocks(count / size + (count % size == 0 ? 0 : 1), [&](std::size_t block) {
    const std::size_t begin = block * size;
    body(begin, count - begin < size ? count : begin + size);
  });
}

/// The usual `size` for ranges of rows: about `elements` elements, some ten microseconds of cheap work, and at least one row.
/// A function of the width alone.
constexpr std::size_t rows_per_block(std::size_t width, std::size_t elements = 16384) {
  return width < elements ? 1 + elements / (width + 1) : 1;
}

}  // namespace addnorm
