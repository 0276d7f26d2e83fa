// The tool as a process of its own.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/folder.h"
#include "support/sanitizer.h"

namespace addnorm::test {

/// Within which a signal is answered: what is promised, two seconds, and one for a machine on which other tests run; a sanitizer
/// makes everything slower.
inline constexpr std::chrono::duration<double> kSoon{kSanitized ? 10 : 3};

struct Ended {
  int code = -1;           ///< of its own; minus the signal, where one ended it
  bool by_signal = false;  ///< it did not end by itself
  std::string out, err;
  double seconds = 0;
  double peak_mib = 0;  ///< of memory, mapped pages of files included
};

/// The number that follows the last `words` in a text, commas left out; -1: none does.
inline std::int64_t number_behind(const std::string& text, const std::string& words) {
  const std::size_t found = text.rfind(words);
  std::string digits;
  for (std::size_t i = found + words.size(); found != std::string::npos && i < text.size(); ++i) {
    if (text[i] >= '0' && text[i] <= '9')
      digits += text[i];
    else if (text[i] != ',')
      break;
  }
  return digits.empty() ? -1 : std::stoll(digits);
}

/// The tool in a process of its own, with files for what it says. `before` runs in it just before the tool does: limits, other
/// ends for what it says.
class Process {
 public:
  Process(const std::filesystem::path& folder, std::vector<std::string> arguments, const std::string& input = "/dev/null",
          const std::function<void()>& before = {})
      : out_(folder / "out.txt"), err_(folder / "err.txt"), begun_(std::chrono::steady_clock::now()) {
    for (const auto& old : {out_, err_}) std::filesystem::remove(old);  // nobody takes an earlier one's words for this one's
    arguments.insert(arguments.begin(), ADDNORM_TOOL);
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("fork: no process can be made");
    if (pid_ != 0) return;
    const auto open_as = [](const char* path, int flags, int as) { dup2(open(path, flags, 0644), as); };
    open_as(input.c_str(), O_RDONLY, 0);
    open_as(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 1);
    open_as(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 2);
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    setenv("OMP_WAIT_POLICY", "passive", 1);
    if (chdir(folder.c_str()) != 0) _exit(99);
    if (before) before();
    std::vector<char*> texts;
    for (std::string& argument : arguments) texts.push_back(argument.data());
    texts.push_back(nullptr);
    execv(ADDNORM_TOOL, texts.data());
    _exit(99);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// A process that was not waited for is ended: a test that failed leaves none training.
  ~Process() {
    if (reaped_) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  void send(int number) const { kill(pid_, number); }
  std::string said() const { return text_of(err_); }
  bool wait_for(const std::string& text) const {
    for (int i = 0; i < 1200 && said().find(text) == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return said().find(text) != std::string::npos;
  }
  bool has_ended() const { return text_of("/proc/" + std::to_string(pid_) + "/status").find("State:\tZ") != std::string::npos; }
  /// It has blocked SIGTERM: from now on it hears signals. False: it ended before.
  bool wait_until_it_listens() const {
    for (int i = 0; i < 12000; ++i) {
      const std::string status = text_of("/proc/" + std::to_string(pid_) + "/status");
      const std::size_t found = status.find("SigBlk:\t");
      if (found == std::string::npos || status.find("State:\tZ") != std::string::npos) return false;
      if (std::stoull(status.substr(found + 8), nullptr, 16) >> (SIGTERM - 1) & 1) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  Ended end() const {
    int status = 0;
    struct rusage used {};
    wait4(pid_, &status, 0, &used);
    reaped_ = true;
    Ended ended{.out = text_of(out_), .err = text_of(err_)};
    ended.by_signal = WIFSIGNALED(status);
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    ended.peak_mib = static_cast<double>(used.ru_maxrss) / 1024;
    ended.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
    return ended;
  }

 private:
  std::filesystem::path out_, err_;
  std::chrono::steady_clock::time_point begun_;
  pid_t pid_;
  mutable bool reaped_ = false;
};

}  // namespace addnorm::test
