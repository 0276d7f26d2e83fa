// Who else uses the processors: our own threads that still spin, and other programs.
#pragma once

#include <sys/types.h>

namespace addnorm::bench {

/// Waits until no thread of that process runs any more (0: this process, apart from the caller). Worker threads of an
/// OpenMP team spin for some milliseconds after their last loop and would take a core from whoever is measured next.
void wait_until_idle(pid_t pid);

/// How many cores, on average, were busy for others since it was made: other programs here, or (steal) other virtual
/// machines. Good to a few hundredths over a second: the system counts in ticks of 10 ms.
class OthersWatch {
 public:
  explicit OthersWatch(pid_t peer);  ///< peer: a process that counts as ours; 0: none
  double cores() const;

 private:
  double others_so_far() const;
  pid_t peer_;
  double begin_, others_;
};

}  // namespace addnorm::bench
