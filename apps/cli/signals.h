// Signals that ask a long command to end.
#pragma once

namespace addnorm::cli {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is only noted; a second one ends the process at once, which leaves good
/// files because every file is written beside and renamed. SIGPIPE is ignored: a reader that has gone does not stop training.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  static int caught();     ///< the number of the signal; 0: none
  static int exit_code();  ///< 128 + the number, as shells have it: 130 for SIGINT, 143 for SIGTERM
};

}  // namespace addnorm::cli
