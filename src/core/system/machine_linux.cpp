// Memory, processors and names by the files in /proc and /sys.
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "addnorm/core/checked.h"
#include "addnorm/core/error.h"
#include "core/system/machine.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

/// The first word of a file, if it is a number: limits are "max" or -1 where there is none.
std::optional<double> number_in(const fs::path& file) {
  std::ifstream in(file);
  double value = 0;
  return in >> value && value >= 0 ? std::optional(value) : std::nullopt;
}

/// The number after `key` in a file of lines "key number".
std::optional<double> number_after(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    double value = 0;
    if (words >> name >> value && name == key) return value;
  }
  return std::nullopt;
}

/// Folders of the control groups that hold `controller` for this process, from its own up to the root. Inside of a container
/// the path may be that of the machine around it, which is not there: then the container's root is what counts.
std::vector<fs::path> groups(const fs::path& root, const std::string& controller) {
  std::vector<fs::path> folders;
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    const bool unified = names.empty();
    if (!unified && ("," + names + ",").find("," + controller + ",") == std::string::npos) continue;
    for (const std::string& mount :
         unified ? std::vector<std::string>{".", "unified"} : std::vector<std::string>{controller, names}) {
      const fs::path top = root / "sys/fs/cgroup" / mount;
      fs::path below = fs::path(line.substr(second + 1)).lexically_normal().relative_path();
      for (; !below.empty() && below != "."; below = below.parent_path()) folders.push_back(top / below);
      folders.push_back(top);
    }
  }
  return folders;
}

void take_least(std::optional<double>& least, std::optional<double> value) {
  if (value && (!least || *value < *least)) least = value;
}

/// Files that are only cached count as used, and are given up when memory is needed.
std::optional<double> room_in(const fs::path& group) {
  struct Names {
    const char *limit, *used, *cached;
  };
  constexpr std::array kVersions{Names{"memory.max", "memory.current", "inactive_file"},
                                 Names{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}};
  for (const Names& names : kVersions) {
    const auto limit = number_in(group / names.limit);
    if (!limit) continue;
    const double used = number_in(group / names.used).value_or(0);
    const double cached = number_after(group / "memory.stat", names.cached).value_or(0);
    return std::max(0.0, *limit - std::max(0.0, used - cached));
  }
  return std::nullopt;
}

std::optional<double> processors_in(const fs::path& group) {
  double quota = 0, period = 0;
  if (std::ifstream in(group / "cpu.max"); in >> quota >> period && quota > 0 && period > 0) return quota / period;
  const auto v1_quota = number_in(group / "cpu.cfs_quota_us"), v1_period = number_in(group / "cpu.cfs_period_us");
  if (v1_quota && v1_period && *v1_quota > 0 && *v1_period > 0) return *v1_quota / *v1_period;
  return std::nullopt;
}

/// What the limit of the address space leaves; nothing: there is none.
std::optional<double> address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const double pages = number_in("/proc/self/statm").value_or(0);
  return std::max(0.0, static_cast<double>(limit.rlim_cur) - pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
}

std::size_t processors_of_affinity() {
  for (std::size_t most = 1024; most <= (std::size_t{1} << 20); most *= 2) {  // too small a set is refused
    cpu_set_t* set = CPU_ALLOC(most);
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    const int count = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known) return static_cast<std::size_t>(count);
  }
  return static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

/// The model name of the first processor, in the words of the kernel.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const std::size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return "unknown";
}

}  // namespace

void sleep_for(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "an unknown machine";
}

MachineFacts machine_facts() {
  MachineFacts facts{.processor = processor(),
                     .processors = sysconf(_SC_NPROCESSORS_ONLN),
                     .memory_bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE))};
  utsname system{};
  if (uname(&system) == 0) {
    facts.host = system.nodename;
    facts.system = concat(system.sysname, " ", system.release, " ", system.machine);
  }
  return facts;
}

std::optional<std::uint64_t> cgroup_memory(const fs::path& root) {
  constexpr double kNoLimit = 0x1p62;  // v1 writes the largest number instead of "max"
  std::optional<double> least;
  for (const fs::path& group : groups(root, "memory")) take_least(least, room_in(group));
  return least && *least < kNoLimit ? std::optional(static_cast<std::uint64_t>(*least)) : std::nullopt;
}

std::optional<double> cgroup_processors(const fs::path& root) {
  std::optional<double> least;
  for (const fs::path& group : groups(root, "cpu")) take_least(least, processors_in(group));
  return least;
}

std::optional<std::uint64_t> free_memory(const fs::path& root) {
  for (const char* key : {"MemAvailable:", "MemFree:"})
    if (const auto kib = number_after(root / "proc/meminfo", key)) return static_cast<std::uint64_t>(*kib) * 1024;
  return std::nullopt;
}

MemoryLimit available_memory() {
  const auto addressable = [](std::uint64_t bytes) {
    return checked_size(bytes).value_or(std::numeric_limits<std::size_t>::max());
  };
  MemoryLimit limit{addressable(free_memory("/").value_or(0)), "free memory of the machine"};
  if (limit.bytes == 0)
    limit.bytes =
        addressable(static_cast<std::uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
  if (const auto group = cgroup_memory("/"); group && *group < limit.bytes)
    limit = {static_cast<std::size_t>(*group), "the memory limit of the container (cgroup)"};
  if (const auto space = address_space(); space && *space < static_cast<double>(limit.bytes))
    limit = {static_cast<std::size_t>(*space), "ulimit -v"};
  return limit;
}

int granted_threads() {
  const auto affinity = static_cast<double>(processors_of_affinity());
  return static_cast<int>(std::clamp(std::min(affinity, std::ceil(cgroup_processors("/").value_or(affinity))), 1.0, 1024.0));
}

}  // namespace addnorm
