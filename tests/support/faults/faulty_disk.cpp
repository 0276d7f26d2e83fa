#include "support/faults/faulty_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <utility>

namespace addnorm::test {

static FaultyDisk* disk = nullptr;
bool skip_syncs = false;

const char* name_of(Call call) {
  constexpr std::array kNames{"open", "write", "pread", "fsync", "close", "rename", "unlink", "mkdir"};
  return kNames.at(static_cast<std::size_t>(call));
}

std::map<std::string, std::string> after_power_failure(const DiskState& state, std::uint64_t chosen, Unsynced unsynced) {
  std::map<std::string, int> names = state.names;
  for (std::size_t i = 0; i < state.changes.size(); ++i) {
    if ((chosen >> i & 1) == 0) continue;
    if (!state.changes[i].remove.empty()) names.erase(state.changes[i].remove);
    if (!state.changes[i].put.empty()) names[state.changes[i].put] = state.changes[i].file;
  }
  std::map<std::string, std::string> files;
  for (const auto& [name, file] : names) {
    const auto found = state.synced_bytes.find(file);
    std::string bytes = found == state.synced_bytes.end() ? "" : found->second;
    const std::string& all = state.all_bytes.at(file);
    if (unsynced == Unsynced::kept) bytes = all;
    if (unsynced == Unsynced::zeros) bytes.resize(all.size(), '\0');
    if (unsynced == Unsynced::half) bytes = all.substr(0, (bytes.size() + all.size()) / 2);
    files[name] = bytes;
  }
  return files;
}

FaultyDisk::FaultyDisk(std::filesystem::path folder) : folder_(std::move(folder)) { disk = this; }
FaultyDisk::~FaultyDisk() { disk = nullptr; }

void FaultyDisk::fail(Call call, int number, int error) {
  failing_ = call;
  until_failure_ = number;
  error_ = error;
  failed_ = false;
}

bool FaultyDisk::watches(const std::string& path) const {
  if (whole_tree && path.starts_with(folder_.string() + "/")) return true;
  return path == folder_ || std::filesystem::path(path).parent_path() == folder_;
}

std::string FaultyDisk::name_in(const std::string& path) const {
  return path == folder_ ? "" : std::filesystem::path(path).filename().string();
}

bool FaultyDisk::begins(Call call, const std::string& what) {
  if (every_change != 0 && (call == Call::write || call == Call::rename || call == Call::unlink || call == Call::mkdir)) {
    errno = every_change;
    return false;
  }
  if (!whole_tree) moments.push_back(now);
  log.push_back(std::string(name_of(call)) + " " + (what.empty() ? "folder" : what));
  if (call != failing_ || until_failure_-- != 0) return true;
  failed_ = true;
  errno = error_;
  return false;
}

bool FaultyDisk::interrupted() {
  if (!interrupt || std::exchange(just_interrupted_, !just_interrupted_)) return false;
  errno = EINTR;
  return true;
}

void FaultyDisk::opened(int fd, const std::string& path, bool made) {
  open_[fd] = path;
  if (!made || whole_tree) return;
  live_[name_in(path)] = made_;
  now.changes.push_back({.remove = "", .put = name_in(path), .file = made_});
  now.all_bytes[made_++] = "";
}

void FaultyDisk::wrote(int fd, const void* bytes, std::size_t count) {
  const auto file = live_.find(name_in(path_of(fd)));
  if (file != live_.end()) now.all_bytes[file->second].append(static_cast<const char*>(bytes), count);
}

void FaultyDisk::synced(int fd) {
  const std::string name = name_in(path_of(fd));
  if (name.empty() && !ignore_folder_sync) {
    now.names = live_;
    now.changes.clear();
  }
  if (!name.empty() && !ignore_file_sync && live_.contains(name)) now.synced_bytes[live_[name]] = now.all_bytes[live_[name]];
}

void FaultyDisk::moved(const std::string& from, const std::string& to) {
  const std::string old_name = name_in(from), new_name = to.empty() ? "" : name_in(to);
  if (!live_.contains(old_name)) return;
  const int file = live_[old_name];
  live_.erase(old_name);
  if (!new_name.empty()) live_[new_name] = file;
  now.changes.push_back({.remove = old_name, .put = new_name, .file = file});
  for (auto& [fd, path] : open_)
    if (path == from && !to.empty()) path = to;
}

std::string FaultyDisk::path_of(int fd) const {
  const auto found = open_.find(fd);
  return found == open_.end() ? "" : found->second;
}

}  // namespace addnorm::test

// The calls. What is not watched goes straight to the system.

using addnorm::test::Call;
using addnorm::test::disk;

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(rest, unsigned) : 0U;
  va_end(rest);
  const bool watched = disk != nullptr && disk->watches(path);
  if (watched && !disk->begins(Call::open, path)) return -1;
  const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
  if (watched && fd >= 0) disk->opened(fd, path, (flags & O_EXCL) != 0);
  return fd;
}

ssize_t write(int fd, const void* bytes, size_t count) {
  const bool watched = disk != nullptr && !disk->path_of(fd).empty();
  if (watched && (disk->interrupted() || !disk->begins(Call::write, disk->path_of(fd)))) return -1;
  const ssize_t done = syscall(SYS_write, fd, bytes, watched ? std::min(count, disk->write_at_most) : count);
  if (watched && done > 0) disk->wrote(fd, bytes, static_cast<size_t>(done));
  return done;
}

ssize_t pread(int fd, void* bytes, size_t count, off_t offset) {
  const bool watched = disk != nullptr && !disk->path_of(fd).empty();
  if (watched && (disk->interrupted() || !disk->begins(Call::pread, disk->path_of(fd)))) return -1;
  return syscall(SYS_pread64, fd, bytes, watched ? std::min(count, disk->write_at_most) : count, offset);
}

int fsync(int fd) {
  const bool watched = disk != nullptr && !disk->path_of(fd).empty();
  if (!watched) return addnorm::test::skip_syncs ? 0 : static_cast<int>(syscall(SYS_fsync, fd));
  if (!disk->begins(Call::fsync, disk->path_of(fd))) return -1;
  disk->synced(fd);  // that the real disk waits would only cost time
  return 0;
}

int close(int fd) {
  const bool watched = disk != nullptr && !disk->path_of(fd).empty();
  const bool fails = watched && !disk->begins(Call::close, disk->path_of(fd));
  const int error = errno;
  const int closed = static_cast<int>(syscall(SYS_close, fd));
  if (watched) disk->closed(fd);
  if (fails) errno = error;
  return fails ? -1 : closed;
}

int rename(const char* from, const char* to) noexcept {
  const bool watched = disk != nullptr && disk->watches(to);
  if (watched && !disk->begins(Call::rename, std::string(from) + " -> " + to)) return -1;
  const int result = static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
  if (watched && result == 0) disk->moved(from, to);
  return result;
}

int unlink(const char* path) noexcept {
  const bool watched = disk != nullptr && disk->watches(path);
  if (watched && !disk->begins(Call::unlink, path)) return -1;
  const int result = static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
  if (watched && result == 0) disk->moved(path, "");
  return result;
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (disk != nullptr && disk->watches(path) && !disk->begins(Call::mkdir, path)) return -1;
  return static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

}  // extern "C"
