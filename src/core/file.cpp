#include "core/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

void require_plain_path(const std::filesystem::path& path) {
  require(!path.empty(), "the path of a file is empty");
  require(path.native().find('\0') == std::string::npos, "the path '", path.native().c_str(), "...' contains a NUL byte");
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISSOCK(mode)) return "a socket";
  return "not a regular file";
}

int open_for_reading(const std::filesystem::path& path) {
  require_plain_path(path);
  // A named pipe without a writer would block a plain open for ever.
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) throw DataError(concat(path.native(), ": cannot be opened: ", reason(errno)));
  return fd;
}

struct stat status_of(int fd, const std::filesystem::path& path) {
  struct stat status {};
  if (fstat(fd, &status) != 0) throw DataError(concat(path.native(), ": cannot be examined: ", reason(errno)));
  return status;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

// The name is not derived from that of the target, which may be as long as a name can be. A file left over by a killed
// process with our id is passed over.
std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  for (;;) {
    auto name = folder_of(path) / concat(".addnorm-", getpid(), "-", ++counter, ".tmp");
    struct stat status {};
    if (lstat(name.c_str(), &status) != 0) return name;
  }
}

// Keeps the permissions of the file that is to be replaced.
int create(const std::filesystem::path& temporary, const std::filesystem::path& path) {
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) throw DataError(concat(path.native(), ": no file can be created beside it: ", reason(errno)));
  struct stat old {};
  if (stat(path.c_str(), &old) == 0 && fchmod(fd, old.st_mode & 07777) != 0) errno = 0;  // a courtesy, not a promise
  return fd;
}

// Where the links that `path` names lead, also when nothing is there yet: renaming over a link would replace the link.
std::filesystem::path behind_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as Linux itself
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(path, error); ++links) {
    if (links == kMostLinks) throw DataError(concat(path.native(), ": cannot be written: ", reason(ELOOP)));
    const auto target = std::filesystem::read_symlink(path, error);
    if (error) throw DataError(concat(path.native(), ": the link cannot be read: ", error.message()));
    path = folder_of(path) / target;  // an absolute target replaces the folder
  }
  return path;
}

// Renaming over a device or a pipe would replace it by a file.
std::filesystem::path checked_target(const std::filesystem::path& given) {
  require_plain_path(given);
  std::filesystem::path path = behind_links(given);
  struct stat status {};
  const bool there = stat(path.c_str(), &status) == 0;
  require(!there || S_ISREG(status.st_mode), path.native(), ": is ", kind_of(status.st_mode), ", a file is to be written there");
  require(path.has_filename(), path.native(), ": names a folder, the name of a file is needed");
  return path;
}

}  // namespace

FileHandle::~FileHandle() {
  if (fd_ >= 0) close(fd_);
}

int FileHandle::release() { return std::exchange(fd_, -1); }

InputFile::InputFile(const std::filesystem::path& path) : path_(path), handle_(open_for_reading(path)) {
  const struct stat status = status_of(handle_.fd(), path_);
  if (!S_ISREG(status.st_mode)) throw DataError(concat(path_.native(), ": is ", kind_of(status.st_mode), ", a file is needed"));
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void InputFile::read(std::uint64_t offset, void* into, std::size_t bytes) const {
  auto* next = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = pread(handle_.fd(), next, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw DataError(concat(path_.native(), ": reading at byte ", offset, " failed: ", reason(errno)));
    if (got == 0)
      throw DataError(concat(path_.native(), ": ends at byte ", offset, ", ", bytes,
                             " bytes more were there when it was opened; ", "it was cut while being read"));
    next += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

void InputFile::expect_same_size() const {
  const auto now = static_cast<std::uint64_t>(status_of(handle_.fd(), path_).st_size);
  if (now != size_)
    throw DataError(concat(path_.native(), ": had ", size_, " bytes when it was opened and has ", now, " now; it was changed ",
                           "while being read"));
}

std::string small_text(const std::filesystem::path& path, std::string_view what) {
  constexpr std::uint64_t kMost = 1 << 20;
  const InputFile file(path);
  if (file.size() > kMost) throw DataError(concat(path.string(), ": ", file.size(), " bytes; ", what, " has at most ", kMost));
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, text.data(), text.size());
  return text;
}

ReplacementFile::ReplacementFile(const std::filesystem::path& path)
    : path_(checked_target(path)), temporary_(temporary_beside(path_)), handle_(create(temporary_, path_)) {}

ReplacementFile::~ReplacementFile() {
  if (!committed_) unlink(temporary_.c_str());
}

void ReplacementFile::fail(const char* doing) const {
  throw DataError(concat(path_.native(), ": ", doing, " failed: ", reason(errno), "; what was there before is unchanged"));
}

void ReplacementFile::write(const void* from, std::size_t bytes) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 30;  // Linux writes at most 2 GiB per call
  const auto* next = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t done = ::write(handle_.fd(), next, std::min(bytes, kAtOnce));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("writing");
    next += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

void ReplacementFile::commit() {
  if (fsync(handle_.fd()) != 0) fail("writing to the disk");
  if (close(handle_.release()) != 0) fail("closing");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail("renaming");
  committed_ = true;
  // The new name is durable once its folder is. Some file systems cannot sync a folder: with them it is as safe as it gets.
  const FileHandle folder(open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const bool synced = folder.fd() >= 0 && (fsync(folder.fd()) == 0 || errno == EINVAL || errno == ENOTSUP);
  if (!synced)
    throw DataError(concat(path_.native(), ": the new file is in place, but its folder could not be synced: ", reason(errno),
                           "; a power failure may bring the old one back"));
}

}  // namespace addnorm
