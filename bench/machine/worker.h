// A process of our own in which one workload runs by itself: its peak memory is that of the workload and of nothing else.
#pragma once

#include <functional>
#include <optional>

#include "core/system/child.h"

namespace addnorm::bench {

/// Forked, and asked for one measured slice at a time. Start it before this process has mapped much: what it has then counts.
class Worker {
 public:
  /// make() runs in the new process, when the first slice is asked for, and gives the call that is measured.
  explicit Worker(const std::function<std::function<void()>()>& make);

  /// Median seconds per call over a slice, at least one call. Nothing when the process has ended: an error, or no memory.
  std::optional<double> slice(int threads, double seconds);
  double made_seconds() const { return made_; }  ///< how long make() took; 0 before the first slice
  pid_t pid() const { return child_ ? child_->pid() : -1; }

 private:
  std::optional<Child> child_;  // none: it could not be started
  double made_ = 0;
};

/// The most memory that a process has had in use so far, in MiB (VmHWM); 0 when it is gone.
double peak_mib(pid_t pid);

}  // namespace addnorm::bench
