// The same from files below another root, for tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "addnorm/core/machine.h"

namespace addnorm {

/// Room under the tightest memory limit of the control groups named in <root>/proc/self/cgroup; nothing: there is no limit.
std::optional<std::uint64_t> cgroup_memory(const std::filesystem::path& root);
/// Processors by the tightest quota, 1.5 for one and a half; nothing: there is no quota.
std::optional<double> cgroup_processors(const std::filesystem::path& root);
/// MemAvailable, or where a kernel does not have it MemFree; nothing: the file is not there.
std::optional<std::uint64_t> free_memory(const std::filesystem::path& root);

}  // namespace addnorm
