// A child process: started, watched, asked to end; and the connection to it. One source file for each kind of system;
// ADDNORM_PROCESSES chooses (cmake/platform.cmake).
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/file.h"

namespace addnorm {

/// How it ended.
struct ChildEnd {
  int code = 0;    ///< its exit code; -1: lost
  int signal = 0;  ///< that ended it; 0: none
  bool good() const { return code == 0 && signal == 0; }
  std::string text() const;  ///< "exit code 1", "ended by signal 9 (Killed); the machine may be out of memory"
};

/// One end of a connection between two processes. A lost other end raises no SIGPIPE.
class Channel {
 public:
  explicit Channel(int socket = -1) : socket_(socket) {}
  bool send(const void* data, std::size_t bytes);         ///< whole or not at all
  bool receive(void* data, std::size_t bytes);            ///< the same; false at the end of the connection
  std::optional<std::string> read_line(double patience);  ///< nothing at the end, or after so many seconds
  void close() { socket_ = FileHandle(-1); }

 private:
  FileHandle socket_;
  std::string unread_;  // by read_line
};

/// Starting one throws an Error. A process that was not waited for is killed by the destructor.
class Child {
 public:
  /// A program and its arguments. Everything it prints goes to `log`, which is truncated; it reads nothing. It dies with the
  /// thread that made it, by SIGTERM. A program that cannot be run ends as ChildEnd says.
  static Child logged(std::vector<std::string> words, const std::filesystem::path& log);
  /// A program, which is searched for in PATH, and its arguments. The channel is its stdin and stdout; its stderr is dropped.
  /// `settings`, "NAME=value", replace those of this process's environment. A program that cannot be run is an Error.
  static Child connected(std::vector<std::string> words, std::span<const std::string_view> settings);
  /// A copy of this process that runs `body` with its end of the channel, until that returns or throws. It is killed when the
  /// thread that made it ends. Copies that are made later hold this connection too: it does not see that the channel is closed.
  static Child forked(const std::function<void(Channel& channel)>& body);

  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  int pid() const { return pid_; }
  Channel& channel() { return channel_; }
  std::optional<ChildEnd> end_within(double seconds);  ///< nothing when it runs on, and when its end was given before
  void ask_to_end() const;                             ///< SIGTERM
  void kill_now() const;

 private:
  explicit Child(int pid, Channel channel = Channel()) : pid_(pid), channel_(std::move(channel)) {}

  int pid_;  // -1: none, or it was waited for
  Channel channel_;
};

}  // namespace addnorm
