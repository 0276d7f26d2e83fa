#include "bench/machine/idle.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "bench/slice.h"

namespace addnorm::bench {
namespace {

std::string process_folder(pid_t pid) { return "/proc/" + (pid == 0 ? "self" : std::to_string(pid)); }

/// /proc/.../stat reads "ID (name) S 1 2 3 ...": what follows the name, which may itself hold blanks and brackets.
std::istringstream after_name(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const auto end = line.rfind(')');
  return std::istringstream(end == std::string::npos ? "" : line.substr(end + 1));
}

bool any_other_runs(pid_t pid) {
  const std::string self = std::to_string(gettid());
  std::error_code gone;  // threads and processes may end while we look
  for (const auto& task : std::filesystem::directory_iterator(process_folder(pid) + "/task", gone)) {
    std::string state;
    after_name(task.path() / "stat") >> state;
    if (state == "R" && task.path().filename() != self) return true;
  }
  return false;
}

double seconds_of(double ticks) { return ticks / static_cast<double>(sysconf(_SC_CLK_TCK)); }

/// Processor time of a process with all its threads: the 14th and 15th field, the 12th and 13th after the name.
double process_seconds(pid_t pid) {
  auto fields = after_name(process_folder(pid) + "/stat");
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return seconds_of(user + system);
}

/// Time that all cores were busy: "cpu user nice system idle iowait irq softirq steal ...".
double busy_seconds() {
  std::ifstream file("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  file >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  return seconds_of(user + nice + system + irq + softirq + steal);
}

}  // namespace

void wait_until_idle(pid_t pid) {
  for (const double end = now() + 0.1; now() < end && any_other_runs(pid);) usleep(300);
}

OthersWatch::OthersWatch(std::vector<pid_t> ours) : ours_(std::move(ours)), begin_(now()), others_(others_so_far()) {}

double OthersWatch::others_so_far() const {
  double others = busy_seconds() - process_seconds(0);
  for (const pid_t pid : ours_) others -= pid > 0 ? process_seconds(pid) : 0;
  return others;
}

double OthersWatch::cores() const { return std::max(0.0, others_so_far() - others_) / std::max(now() - begin_, 1e-3); }

}  // namespace addnorm::bench
