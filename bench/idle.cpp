#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "bench/peer.h"
#include "bench/slice.h"

namespace addnorm::bench {
namespace {

/// /proc/PID/task/TID/stat reads "TID (name) S ...": the letter after the last ')' is the state, R while it runs.
bool runs(const std::filesystem::path& task) {
  std::ifstream file(task / "stat");
  std::string line;
  std::getline(file, line);
  const auto after_name = line.rfind(')');
  return after_name != std::string::npos && after_name + 2 < line.size() && line[after_name + 2] == 'R';
}

bool any_other_runs(pid_t pid) {
  const std::string self = std::to_string(gettid());
  std::error_code gone;  // threads and processes may end while we look
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + (pid == 0 ? "self" : std::to_string(pid)) + "/task", gone))
    if (task.path().filename() != self && runs(task.path())) return true;
  return false;
}

}  // namespace

void wait_until_idle(pid_t pid) {
  for (const double end = now() + 0.1; now() < end && any_other_runs(pid);) usleep(300);
}

}  // namespace addnorm::bench
