// A child process: started, watched, asked to end.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace addnorm {

/// How it ended.
struct ChildEnd {
  int code = 0;    ///< its exit code
  int signal = 0;  ///< that ended it; 0: none
  bool good() const { return code == 0 && signal == 0; }
  std::string text() const;  ///< "exit code 1", "ended by signal 9 (Killed); the machine may be out of memory"
};

/// Everything it prints goes to `log`, which is truncated; it reads nothing. It dies with the thread that made it, by SIGTERM.
/// A process that was not waited for is killed by the destructor.
class Child {
 public:
  Child(const std::filesystem::path& program, const std::vector<std::string>& arguments, const std::filesystem::path& log);
  ~Child();
  Child(Child&& other) noexcept : pid_(other.pid_) { other.pid_ = -1; }
  Child& operator=(Child&&) = delete;

  bool ended(ChildEnd& end);  ///< true once
  void ask_to_end() const;    ///< SIGTERM
  void kill_now() const;

 private:
  pid_t pid_ = -1;
};

}  // namespace addnorm
