#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>

#include "addnorm/core/error.h"
#include "addnorm/train/checkpoint.h"
#include "core/file.h"

namespace addnorm {
namespace {

// An flock belongs to the open file, which a forked child shares: a child that outlives its parent would hold the lock for it.
// So a child closes the files of its parent's locks; that gives up nothing, since the parent has them too.
std::mutex held_mutex;
std::set<int>& held() {
  static std::set<int> fds;
  return fds;
}

void lock_held() { held_mutex.lock(); }
void unlock_held() { held_mutex.unlock(); }
void close_held_in_child() {
  for (const int fd : held()) close(fd);
  held().clear();
  held_mutex.unlock();
}

void hold(int fd) {
  static const int registered = pthread_atfork(lock_held, unlock_held, close_held_in_child);
  if (registered != 0) throw Error("RunLock: no memory for a handler");
  const std::lock_guard lock(held_mutex);
  held().insert(fd);
}

bool same_file(int fd, const std::filesystem::path& path) {
  struct stat open_one {
  }, named{};
  return fstat(fd, &open_one) == 0 && stat(path.c_str(), &named) == 0 && open_one.st_ino == named.st_ino &&
         open_one.st_dev == named.st_dev;
}

std::string host() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "an unknown machine";
  return name.data();
}

[[noreturn]] void refuse_held(int fd, const std::filesystem::path& run) {
  std::array<char, 512> text{};
  const ssize_t got = pread(fd, text.data(), text.size() - 1, 0);
  std::string who(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  who.resize(std::min(who.find('\n'), who.size()));
  if (who == concat("process ", getpid(), " on ", host())) who += ", which is this one";
  throw Error(concat(run.native(), ": this run is in use by ", who.empty() ? "another process" : who,
                     "; wait for it or stop it, or use another folder (--out)"));
}

void write_owner(int fd) {
  const std::string who = concat("process ", getpid(), " on ", host(), "\n");
  // The text is only for the message to a second process, which is refused without it too.
  if (ftruncate(fd, 0) != 0 || pwrite(fd, who.data(), who.size(), 0) < 0) errno = 0;
}

FileHandle locked(const std::filesystem::path& run, const std::filesystem::path& path) {
  for (;;) {
    FileHandle file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    const auto fail = [&](const char* doing) {
      throw DataError(concat(path.native(), ": cannot be ", doing, ": ", std::generic_category().message(errno)));
    };
    if (file.fd() < 0) fail("opened");
    while (flock(file.fd(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) refuse_held(file.fd(), run);
      if (errno != EINTR) fail("locked");
    }
    if (same_file(file.fd(), path)) return file;  // else the folder was replaced between opening and locking
  }
}

/// Only what a run writes itself, where it writes it: users may keep their own files there.
void remove_leftovers_inside(const std::filesystem::path& run) {
  const auto ours = [](std::string_view name) {
    static constexpr std::array<std::string_view, 7> kFiles{"input.txt",   "run.json",       "metrics.jsonl", "model.safetensors",
                                                            "config.json", "tokenizer.json", "report.html"};
    return std::ranges::find(kFiles, name) != kFiles.end() || (name.starts_with("step-") && name.ends_with(".safetensors"));
  };
  remove_leftovers(run, ours);  // not run / "": libstdc++ 12 crashes where memory runs out after a slash at the end
  for (const char* folder : {"best", "checkpoints"}) remove_leftovers(run / folder, ours);
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& run) : file_(run / "lock") {
  make_folder(run);
  FileHandle file = locked(run, file_);
  write_owner(file.fd());
  remove_leftovers_inside(run);
  hold(file.fd());
  fd_ = file.release();
}

void RunLock::check_free(const std::filesystem::path& run) {
  const FileHandle file(open((run / "lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.fd() < 0) return;
  if (flock(file.fd(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) refuse_held(file.fd(), run);
}

bool RunLock::guards_its_folder() const { return same_file(fd_, file_); }

RunLock::~RunLock() {
  const std::lock_guard lock(held_mutex);
  if (held().erase(fd_) == 0) return;  // in a forked child, which closed it when it began
  flock(fd_, LOCK_UN);                 // a child forked this moment may not have closed it yet
  close(fd_);
}

}  // namespace addnorm
