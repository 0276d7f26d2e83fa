// Jobs, each a process, some at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/system/child.h"

namespace addnorm {

struct Job {
  std::function<std::vector<std::string>(int threads)> arguments{};  ///< and may write the files that they name
  std::filesystem::path log{};
  std::function<void()> started = [] {};
  std::function<void()> look = [] {};  ///< some times a second while it runs
  std::function<void(const ChildEnd& end, bool asked_to_end)> done{};
  std::function<void(const std::string& problem)> not_started{};
};

struct PoolOptions {
  std::filesystem::path program;
  int threads = 1;  ///< for all at once: each of the running ones has its share
  int at_once = 1;
  std::function<bool()> go_on;  ///< some times a second; false: those that run are asked to end, others are not begun
};

/// In their order. Threads are shared out when a job begins: the last one alone gets all of them. Returns false when go_on() said
/// no. Those that do not end within kGraceTime are killed.
bool run_jobs(const std::vector<Job>& jobs, const PoolOptions& options);

}  // namespace addnorm
