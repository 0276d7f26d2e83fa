// Memory and processors available to this process.
#pragma once

#include <cstddef>
#include <string>

namespace addnorm {

struct MemoryLimit {
  std::size_t bytes = 0;     ///< that can still be taken
  std::string limited_by{};  ///< "free memory of the machine", "the memory limit of the container (cgroup)", "ulimit -v"
};

/// The least of what the machine has free, what the limits of its control groups (v1 and v2, all levels) leave and what the limit
/// of the address space leaves. The last counts what tensors have reserved as taken: ask before the first one is made.
MemoryLimit available_memory();

/// Processors that this process may use: those of its affinity and cpuset, but no more than the quota of its control groups
/// (rounded up). At least 1.
int granted_threads();

}  // namespace addnorm
