// What else uses the processors: our own threads that still spin, and other programs.
#pragma once

#include <sys/types.h>

#include <vector>

namespace addnorm::bench {

/// Waits until no thread of that process runs any more (0: this process, apart from the caller). Worker threads of an
/// OpenMP team spin for some milliseconds after their last loop and would take a core from what is measured next.
void wait_until_idle(pid_t pid);

/// How many cores, on average, were busy for others since it was made: other programs here, or (steal) other virtual
/// machines. Good to a few hundredths over a second: the system counts in ticks of 10 ms.
class OthersWatch {
 public:
  explicit OthersWatch(std::vector<pid_t> ours);  ///< processes that count as ours, besides this one; 0: none
  double cores() const;

 private:
  double others_so_far() const;
  std::vector<pid_t> ours_;
  double begin_, others_;
};

}  // namespace addnorm::bench
