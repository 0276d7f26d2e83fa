// Files by the calls of POSIX, and flock.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/system/files.h"

namespace addnorm::system_files {
namespace {

template <class Call>
auto again_after_signals(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

FileKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::file;
  if (S_ISDIR(mode)) return FileKind::folder;
  if (S_ISLNK(mode)) return FileKind::link;
  if (S_ISFIFO(mode)) return FileKind::pipe;
  if (S_ISCHR(mode) || S_ISBLK(mode)) return FileKind::device;
  if (S_ISSOCK(mode)) return FileKind::socket;
  return FileKind::other;
}

std::int64_t nanoseconds(const struct stat& status) {
#ifdef __APPLE__
  const timespec& time = status.st_mtimespec;
#else
  const timespec& time = status.st_mtim;
#endif
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// What `call(&status)` fills.
template <class Call>
std::optional<FileStatus> status_by(Call&& call) {
  struct stat found {};
  if (call(&found) != 0) return std::nullopt;
  return FileStatus{.kind = kind_of(found.st_mode),
                    .bytes = static_cast<std::uint64_t>(found.st_size),
                    .device = static_cast<std::uint64_t>(found.st_dev),
                    .number = static_cast<std::uint64_t>(found.st_ino),
                    .changed = nanoseconds(found)};
}

}  // namespace

int open_for_reading(const std::filesystem::path& path) {
  return again_after_signals([&] { return ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY); });
}
int open_for_appending(const std::filesystem::path& path) {
  return again_after_signals([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666); });
}
int open_new(const std::filesystem::path& path) {
  return again_after_signals([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
}
int open_lock(const std::filesystem::path& path, bool create) {
  const int how = create ? O_RDWR | O_CREAT : O_RDONLY;
  return again_after_signals([&] { return ::open(path.c_str(), how | O_CLOEXEC | O_NOFOLLOW, 0666); });
}
int open_standard_input() { return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0); }
bool close(int fd) { return ::close(fd) == 0; }

std::optional<FileStatus> status(int fd) {
  return status_by([&](struct stat* into) { return fstat(fd, into); });
}
std::optional<FileStatus> status(const std::filesystem::path& path) {
  return status_by([&](struct stat* into) { return stat(path.c_str(), into); });
}
std::optional<FileStatus> link_status(const std::filesystem::path& path) {
  return status_by([&](struct stat* into) { return lstat(path.c_str(), into); });
}

std::optional<std::filesystem::path> link_target(const std::filesystem::path& path) {
  for (std::string target(256, '\0');; target.resize(2 * target.size())) {
    const ssize_t length = readlink(path.c_str(), target.data(), target.size());
    if (length < 0) return std::nullopt;
    if (static_cast<std::size_t>(length) < target.size()) return target.substr(0, static_cast<std::size_t>(length));
  }
}

void copy_permissions(const std::filesystem::path& from, int fd) {
  struct stat old {};
  if (stat(from.c_str(), &old) == 0 && fchmod(fd, old.st_mode & 07777) != 0) errno = 0;
}

std::ptrdiff_t read_at(int fd, std::uint64_t offset, void* into, std::size_t bytes) {
  return again_after_signals([&] { return pread(fd, into, bytes, static_cast<off_t>(offset)); });
}

std::ptrdiff_t read_next(int fd, void* into, std::size_t bytes, int milliseconds) {
  if (fd < 0) {  // poll would wait for nothing
    errno = EBADF;
    return -1;
  }
  pollfd input{.fd = fd, .events = POLLIN, .revents = 0};
  const bool ready = poll(&input, 1, milliseconds) > 0;
  const ssize_t count = ready ? ::read(fd, into, bytes) : -1;
  if (!ready || (count < 0 && errno == EINTR)) errno = EAGAIN;
  return count;
}

std::ptrdiff_t write_next(int fd, const void* from, std::size_t bytes) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 30;  // Linux writes at most 2 GiB per call
  return again_after_signals([&] { return ::write(fd, from, std::min(bytes, kAtOnce)); });
}

bool cut(int fd, std::uint64_t bytes) { return ftruncate(fd, static_cast<off_t>(bytes)) == 0; }
bool sync(int fd) { return ::fsync(fd) == 0; }
void forget_cached(int fd) {
#ifdef POSIX_FADV_DONTNEED
  static_cast<void>(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
#else
  static_cast<void>(fd);
#endif
}

const unsigned char* map(int fd, std::size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<const unsigned char*>(at);
}
void unmap(const unsigned char* mapped, std::size_t bytes) { munmap(const_cast<unsigned char*>(mapped), bytes); }

FileLock lock(int fd, bool shared) {
  const int how = (shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  if (again_after_signals([&] { return flock(fd, how); }) == 0) return FileLock::taken;
  return errno == EWOULDBLOCK ? FileLock::held_by_another : FileLock::refused;
}
void unlock(int fd) { flock(fd, LOCK_UN); }

bool rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  return ::rename(from.c_str(), to.c_str()) == 0;
}
bool remove(const std::filesystem::path& file) { return unlink(file.c_str()) == 0; }
bool make_folder(const std::filesystem::path& folder) { return mkdir(folder.c_str(), 0777) == 0; }

bool remove_empty_folder(const std::filesystem::path& folder) { return rmdir(folder.c_str()) == 0; }

bool sync_folder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool synced = ::fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;  // file systems without it are as safe as they get
  const int why = errno;
  ::close(fd);
  errno = why;
  return synced;
}

std::optional<std::vector<std::filesystem::path>> entries(const std::filesystem::path& folder) {
  struct Close {
    void operator()(DIR* open) const { closedir(open); }
  };
  const std::unique_ptr<DIR, Close> open(opendir(folder.c_str()));
  if (!open) return std::nullopt;
  std::vector<std::filesystem::path> all;
  errno = 0;
  while (const dirent* entry = readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") all.push_back(folder / name);
    errno = 0;
  }
  return errno == 0 ? std::optional(std::move(all)) : std::nullopt;
}

std::filesystem::path absolute(const std::filesystem::path& path) { return std::filesystem::absolute(path); }
std::optional<std::filesystem::path> canonical(const std::filesystem::path& path) {
  std::error_code error;
  auto found = std::filesystem::canonical(path, error);
  return error ? std::nullopt : std::optional(std::move(found));
}

long process() { return getpid(); }
bool lives(long process) { return ::kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM; }
bool at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  return pthread_atfork(before, in_parent, in_child) == 0;
}

}  // namespace addnorm::system_files
