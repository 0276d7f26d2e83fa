// Signals that ask a long command to end.
#pragma once

#include <signal.h>

#include <atomic>
#include <string>
#include <thread>

namespace addnorm::cli {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is only noted; a second one ends the process at once, which leaves good
/// files because every file is written beside and renamed. SIGPIPE is ignored: a reader that has gone does not stop training.
///
/// A separate thread waits for them, and all others have them blocked: make it before any other thread is there. A handler
/// would not do: oneDNN's generated products use the stack pointer as an ordinary register, and the system puts a handler's frame
/// where it points, over numbers in use.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  static int caught();     ///< the number of the signal; 0: none
  static int exit_code();  ///< 128 + the number, as shells have it: 130 for SIGINT, 143 for SIGTERM

 private:
  sigset_t mask_before_{};
  struct sigaction pipe_before_ {};
  std::atomic<bool> over_{false};
  std::thread waiter_;
};

/// Says on the standard error, in one line, that a signal has ended the command, `kept` (what is left of it), and the command
/// that goes on; returns the exit code.
int stopped_by_signal(const std::string& kept, const char* verb = "go on with");

}  // namespace addnorm::cli
