#include "core/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include "addnorm/core/error.h"
#include "core/git_lfs.h"

namespace addnorm {
namespace {

constexpr std::string_view kTemporary = ".tmp.";

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

// "model.safetensors.tmp.4711", or "...tmp.4711-2" where a killed process of our id left one. A name that would be longer than
// names can be is cut.
std::string temporary_name(std::string name, int attempt) {
  constexpr std::size_t kLongestName = 255;
  std::string ending = std::string(kTemporary).append(std::to_string(getpid()));
  if (attempt > 1) ending.append("-").append(std::to_string(attempt));
  name.resize(std::min(name.size(), kLongestName - ending.size()));
  return name + ending;
}

std::filesystem::path create_beside(const std::filesystem::path& path, FileHandle& handle) {
  for (int attempt = 1;; ++attempt) {
    auto temporary = folder_of(path) / temporary_name(path.filename().native(), attempt);
    const int fd = open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && (errno == EEXIST || errno == EINTR)) continue;
    if (fd < 0) throw DataError(concat(path.native(), ": no file can be created beside it: ", reason(errno)));
    handle = FileHandle(fd);
    struct stat old {};  // permissions stay, as far as the system allows
    if (stat(path.c_str(), &old) == 0 && fchmod(fd, old.st_mode & 07777) != 0) errno = 0;
    return temporary;
  }
}

/// The process that a temporary name names; 0: the name is none.
long process_of(const std::string& name) {
  const std::size_t found = name.rfind(kTemporary);
  if (found == std::string::npos) return 0;
  const char* const first = name.c_str() + found + kTemporary.size();
  char* end = nullptr;
  const long process = std::strtol(first, &end, 10);
  if (end == first || *first < '1' || *first > '9') return 0;
  if (*end == '-') end += std::strspn(end + 1, "0123456789") + 1;
  return *end == '\0' ? process : 0;
}

// `path` with its symbolic links followed, also when nothing is there yet: renaming over a link would replace the link.
std::filesystem::path resolved_links(std::filesystem::path path) {
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
  std::filesystem::path path = resolved_links(given);
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

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  const int fd = other.release();
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
  return *this;
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

std::string small_text(const std::filesystem::path& path, std::string_view what, std::uint64_t most) {
  const InputFile file(path);
  if (file.size() > most) throw DataError(concat(path.string(), ": ", file.size(), " bytes; ", what, " has at most ", most));
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, text.data(), text.size());
  refuse_lfs_pointer(path, text);
  return text;
}

ReplacementFile::ReplacementFile(const std::filesystem::path& path) : path_(checked_target(path)), handle_(-1) {
  temporary_ = create_beside(path_, handle_);
}

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

void ReplacementFile::check_by(const std::function<void(const std::filesystem::path& written)>& verify) const {
  // Verify what is on the disk, not what is cached; where the cache cannot be dropped, it is still a check.
  static_cast<void>(posix_fadvise(handle_.fd(), 0, 0, POSIX_FADV_DONTNEED));
  try {
    verify(temporary_);
  } catch (const DataError& error) {
    throw DataError(
        concat(path_.native(), ": what was written does not read back: ", error.what(), "; what was there before is unchanged"));
  }
}

void ReplacementFile::commit(const std::function<void(const std::filesystem::path& written)>& verify) {
  if (fsync(handle_.fd()) != 0) fail("writing to the disk");
  if (verify) check_by(verify);
  if (close(handle_.release()) != 0) fail("closing");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail("renaming");
  committed_ = true;
  if (!sync_folder(folder_of(path_)))
    throw DataError(concat(path_.native(), ": the new file is in place, but its folder could not be synced: ", reason(errno),
                           "; a power failure may bring the old one back"));
}

void replace_text(const std::filesystem::path& path, std::string_view text) {
  ReplacementFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

bool sync_folder(const std::filesystem::path& path) {
  const FileHandle folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder.fd() >= 0 && (fsync(folder.fd()) == 0 || errno == EINVAL || errno == ENOTSUP);
}

void make_folder(const std::filesystem::path& folder) {
  require_plain_path(folder);
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return;
  if (!folder.has_filename()) return make_folder(folder.parent_path());  // "runs/one/"
  const std::filesystem::path around = folder_of(folder);
  make_folder(around);
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    throw DataError(concat(folder.native(), ": the folder cannot be made: ", reason(errno)));
  if (!std::filesystem::is_directory(folder, error))
    throw DataError(concat(folder.native(), ": a folder is needed, and there is something else; move it away"));
  if (!sync_folder(around))
    throw DataError(concat(folder.native(), ": the folder around it could not be synced: ", reason(errno)));
}

std::optional<std::vector<std::filesystem::path>> entries_of(const std::filesystem::path& folder) {
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

std::vector<std::filesystem::path> remove_leftovers(const std::filesystem::path& folder,
                                                    const std::function<bool(std::string_view name)>& ours) {
  std::vector<std::filesystem::path> removed;
  const auto all = entries_of(folder);
  if (!all) return removed;
  for (const std::filesystem::path& path : *all) {
    const std::string name = path.filename().native();
    const long process = process_of(name);
    if (process > 0 && ours && !ours(std::string_view(name).substr(0, name.rfind(".tmp.")))) continue;
    // Ours is from a process before us that had our id, as is usual in containers: we have not begun to write.
    const bool living = process > 0 && process != getpid() && (kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM);
    if (process > 0 && !living && unlink(path.c_str()) == 0) removed.push_back(path);
  }
  return removed;
}

}  // namespace addnorm
