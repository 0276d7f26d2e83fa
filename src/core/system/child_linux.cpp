// Child processes by fork, exec and posix_spawn; prctl ends them with their parent.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <future>
#include <thread>
#include <utility>

#include "addnorm/core/error.h"
#include "core/system/child.h"

extern char** environ;  // NOLINT: POSIX has it no other way

namespace addnorm {
namespace {

constexpr int kNoProgram = 127;
constexpr int kLost = -1;  // where our own parent ignores SIGCHLD, and so we do
constexpr auto kBetweenLooks = std::chrono::milliseconds(20);

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

int started(int result) {
  if (result < 0) throw Error(concat("no process can be started: ", std::strerror(errno)));
  return result;
}

/// In the child, between fork and exec: only what is safe there.
[[noreturn]] void become(const char* program, char* const* arguments, int in, int out, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kNoProgram);  // it was gone before we could ask
  setpgid(0, 0);                               // Ctrl-C is for the parent, who passes it on once
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) static_cast<void>(signal(number, SIG_DFL));
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  execv(program, arguments);
  _exit(kNoProgram);
}

FileHandle opened(const std::filesystem::path& path, int flags) {
  FileHandle file(open(path.c_str(), flags | O_CLOEXEC, 0666));
  if (file.fd() < 0) throw DataError(concat(path.native(), ": cannot be opened: ", std::strerror(errno)));
  return file;
}

std::array<FileHandle, 2> connection() {
  std::array<int, 2> ends{};
  started(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()));
  return {FileHandle(ends[0]), FileHandle(ends[1])};
}

/// A signal ends a call before its first byte, or after a part of them: until all are there, or the other end is gone.
template <class Move>
bool moved_whole(std::size_t bytes, const Move& move) {
  for (std::size_t at = 0; at < bytes;) {
    const ssize_t moved = move(at);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    at += static_cast<std::size_t>(moved);
  }
  return true;
}

/// As the system calls take it.
std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(std::span<const std::string_view> settings) {
  std::vector<std::string> result(settings.begin(), settings.end());
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::none_of(settings.begin(), settings.end(),
                     [&](std::string_view s) { return std::string_view(*entry).starts_with(s.substr(0, s.find('=') + 1)); }))
      result.emplace_back(*entry);
  return result;
}

}  // namespace

std::string ChildEnd::text() const {
  if (signal == SIGKILL) return concat("ended by signal 9 (", strsignal(signal), "); the machine may be out of memory");
  if (signal != 0) return concat("ended by signal ", signal, " (", strsignal(signal), ")");
  if (code == kLost) return "ended, but the system does not say how";
  if (code == kNoProgram) return "the program could not be started";
  return concat("exit code ", code);
}

bool Channel::send(const void* data, std::size_t bytes) {
  return moved_whole(bytes, [&](std::size_t at) {  // SIGPIPE is for our own output
    return ::send(socket_.fd(), static_cast<const char*>(data) + at, bytes - at, MSG_NOSIGNAL);
  });
}

bool Channel::receive(void* data, std::size_t bytes) {
  return moved_whole(bytes,
                     [&](std::size_t at) { return recv(socket_.fd(), static_cast<char*>(data) + at, bytes - at, MSG_WAITALL); });
}

std::optional<std::string> Channel::read_line(double patience) {
  const auto last = Clock::now() + Seconds(patience);
  std::size_t at = 0;
  while ((at = unread_.find('\n')) == std::string::npos) {
    const double left = Seconds(last - Clock::now()).count();
    if (left <= 0) return std::nullopt;
    pollfd ready{socket_.fd(), POLLIN, 0};
    std::array<char, 4096> part;
    ssize_t got = poll(&ready, 1, static_cast<int>(left * 1e3) + 1);
    if (got > 0) got = read(socket_.fd(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;  // a signal of ours, not the other's failure
    if (got <= 0) return std::nullopt;
    unread_.append(part.data(), static_cast<std::size_t>(got));
  }
  std::string line = unread_.substr(0, at);
  unread_.erase(0, at + 1);
  return line;
}

Child Child::logged(std::vector<std::string> words, const std::filesystem::path& log) {
  const FileHandle in = opened("/dev/null", O_RDONLY), out = opened(log, O_WRONLY | O_CREAT | O_TRUNC);
  const std::vector<char*> texts = pointers(words);
  const pid_t parent = getpid();
  const pid_t pid = started(fork());
  if (pid == 0) become(texts[0], texts.data(), in.fd(), out.fd(), parent);
  return Child(pid);
}

/// By posix_spawn: it says why a program cannot be run, and copies no page tables of a process that measures. It has no death
/// signal.
Child Child::connected(std::vector<std::string> words, std::span<const std::string_view> settings) {
  auto [ours, theirs] = connection();
  std::vector<std::string> environment = environment_with(settings);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.fd(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, theirs.fd(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int failed =
      posix_spawnp(&pid, words[0].c_str(), &actions, nullptr, pointers(words).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  // ENOENT is also a link to nowhere, a missing #! interpreter, or a bare name that is not in PATH.
  if (failed == ENOENT) throw Error(concat("'", words[0], "' was not found, or what it points to was not"));
  if (failed != 0) throw Error(concat("'", words[0], "' cannot be run (", std::strerror(failed), ")"));
  return Child(pid, Channel(ours.release()));
}

Child Child::forked(const std::function<void(Channel& channel)>& body) {
  auto [ours, theirs] = connection();
  const pid_t pid = started(fork());
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ours = FileHandle(-1);
    try {  // OpenMP's team belongs to the thread that made it, and those of the parent are not here: so on another thread
      Channel channel(theirs.release());
      std::async(std::launch::async, body, std::ref(channel)).get();
    } catch (const std::exception&) {  // the parent notices that no answer comes
    }
    _exit(0);
  }
  return Child(pid, Channel(ours.release()));
}

Child::Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)), channel_(std::move(other.channel_)) {}

Child::~Child() {
  if (pid_ < 0) return;
  kill_now();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<ChildEnd> Child::end_within(double seconds) {
  int status = 0;
  pid_t got = 0;
  const auto last = Clock::now() + Seconds(seconds);
  while (pid_ > 0 && (got = waitpid(pid_, &status, WNOHANG)) == 0 && Clock::now() < last)
    std::this_thread::sleep_for(kBetweenLooks);
  if (got == 0) return std::nullopt;
  pid_ = -1;  // from now on the number may belong to another process: no signal to it
  if (got < 0) return ChildEnd{.code = kLost};
  return ChildEnd{.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0, .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

void Child::ask_to_end() const {
  if (pid_ > 0) kill(pid_, SIGTERM);
}
void Child::kill_now() const {
  if (pid_ > 0) kill(pid_, SIGKILL);
}

}  // namespace addnorm
