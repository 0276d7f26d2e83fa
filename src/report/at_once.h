// Files of many runs, read by all threads at once.
#pragma once

#include <cstddef>
#include <exception>
#include <vector>

#include "addnorm/core/parallel.h"

namespace addnorm {

/// read(i) for every i below `count`, each exactly once; each must write to its own place. When all are done the first
/// exception, by number, is thrown. So the result is the same for any number of threads.
template <class Read>
void read_at_once(std::size_t count, const Read& read) {
  std::vector<std::exception_ptr> failed(count);
  parallel_tasks(count, [&](std::size_t i, std::size_t) {
    try {
      read(i);
    } catch (...) {
      failed[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& one : failed)
    if (one) std::rethrow_exception(one);
}

}  // namespace addnorm
