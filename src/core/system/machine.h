// What the library asks of the machine, besides addnorm/core/machine.h. One source file for each kind of machine; ADDNORM_MACHINE
// chooses (cmake/platform.cmake).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "addnorm/core/machine.h"

namespace addnorm {

void sleep_for(std::chrono::milliseconds time);  ///< at once where a thread cannot wait
std::string host_name();                         ///< "an unknown machine" where it has none

/// For the record of a run.
struct MachineFacts {
  std::string host{}, system{};  ///< empty: not known
  std::string processor = "unknown";
  long processors = 1;
  double memory_bytes = 0;
};
MachineFacts machine_facts();

// Only of Linux: what is read from files below another root, for tests.

/// Room under the tightest memory limit of the control groups named in <root>/proc/self/cgroup; nothing: there is no limit.
std::optional<std::uint64_t> cgroup_memory(const std::filesystem::path& root);
/// Processors by the tightest quota, 1.5 for one and a half; nothing: there is no quota.
std::optional<double> cgroup_processors(const std::filesystem::path& root);
/// MemAvailable, or where a kernel does not have it MemFree; nothing: the file is not there.
std::optional<std::uint64_t> free_memory(const std::filesystem::path& root);

}  // namespace addnorm
