#include "core/file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "addnorm/core/error.h"
#include "core/system/files.h"

namespace addnorm {

using system_files::FileKind;
using system_files::FileStatus;

namespace {

constexpr std::string_view kTemporary = ".tmp.";

std::string reason(int error) { return std::generic_category().message(error); }

void require_plain_path(const std::filesystem::path& path) {
  require(!path.empty(), "the path of a file is empty");
  require(path.native().find('\0') == std::string::npos, "the path '", path.native().c_str(), "...' contains a NUL byte");
}

const char* in_words(FileKind kind) {
  if (kind == FileKind::folder) return "a directory";
  if (kind == FileKind::pipe) return "a named pipe";
  if (kind == FileKind::device) return "a device";
  if (kind == FileKind::socket) return "a socket";
  return "not a regular file";
}

int open_for_reading(const std::filesystem::path& path) {
  require_plain_path(path);
  const int fd = system_files::open_for_reading(path);
  if (fd < 0) throw DataError(concat(path.native(), ": cannot be opened: ", reason(errno)));
  return fd;
}

FileStatus status_of(int fd, const std::filesystem::path& path) {
  const auto status = system_files::status(fd);
  if (!status) throw DataError(concat(path.native(), ": cannot be examined: ", reason(errno)));
  return *status;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

// "model.safetensors.tmp.4711", or "...tmp.4711-2" where a killed process of our id left one. A name that would be longer than
// names can be is cut.
std::string temporary_name(std::string name, int attempt) {
  constexpr std::size_t kLongestName = 255;
  std::string ending = std::string(kTemporary).append(std::to_string(system_files::process()));
  if (attempt > 1) ending.append("-").append(std::to_string(attempt));
  name.resize(std::min(name.size(), kLongestName - ending.size()));
  return name + ending;
}

std::filesystem::path create_beside(const std::filesystem::path& path, FileHandle& handle) {
  for (int attempt = 1;; ++attempt) {
    auto temporary = folder_of(path) / temporary_name(path.filename().native(), attempt);
    const int fd = system_files::open_new(temporary);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) throw DataError(concat(path.native(), ": no file can be created beside it: ", reason(errno)));
    handle = FileHandle(fd);
    system_files::copy_permissions(path, fd);
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
  const auto is_link = [&path] {
    const auto status = system_files::link_status(path);
    return status && status->kind == FileKind::link;
  };
  for (int links = 0; is_link(); ++links) {
    if (links == kMostLinks) throw DataError(concat(path.native(), ": cannot be written: ", reason(ELOOP)));
    const auto target = system_files::link_target(path);
    if (!target) throw DataError(concat(path.native(), ": the link cannot be read: ", reason(errno)));
    path = folder_of(path) / *target;  // an absolute target replaces the folder
  }
  return path;
}

// Renaming over a device or a pipe would replace it by a file.
std::filesystem::path checked_target(const std::filesystem::path& given) {
  require_plain_path(given);
  std::filesystem::path path = resolved_links(given);
  if (const auto status = system_files::status(path))
    require(status->kind == FileKind::file, path.native(), ": is ", in_words(status->kind), ", a file is to be written there");
  require(path.has_filename(), path.native(), ": names a folder, the name of a file is needed");
  return path;
}

// docs/spec.md of Git LFS: lines of a key and a value, "version" first, fewer than 1024 bytes in all.
constexpr std::string_view kLfsBeginning = "version https://git-lfs.github.com/spec/", kLfsSize = "\nsize ";
constexpr std::size_t kLargestLfsPointer = 1024;

/// " that stands for 548105171 bytes", where it says so.
std::string lfs_size_text(std::string_view text) {
  const std::size_t at = text.find(kLfsSize);
  std::uint64_t bytes = 0;
  if (at == std::string_view::npos) return "";
  const std::string_view digits = text.substr(at + kLfsSize.size());
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
  return read.ec == std::errc() ? concat(" that stands for ", bytes, " bytes") : "";
}

}  // namespace

FileHandle::~FileHandle() {
  if (fd_ >= 0) system_files::close(fd_);
}

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  const int fd = other.release();
  if (fd_ >= 0) system_files::close(fd_);
  fd_ = fd;
  return *this;
}

int FileHandle::release() { return std::exchange(fd_, -1); }

InputFile::InputFile(const std::filesystem::path& path) : path_(path), handle_(open_for_reading(path)) {
  const FileStatus status = status_of(handle_.fd(), path_);
  if (status.kind != FileKind::file)
    throw DataError(concat(path_.native(), ": is ", in_words(status.kind), ", a file is needed"));
  size_ = status.bytes;
}

void InputFile::read(std::uint64_t offset, void* into, std::size_t bytes) const {
  auto* next = static_cast<char*>(into);
  while (bytes > 0) {
    const std::ptrdiff_t got = system_files::read_at(handle_.fd(), offset, next, bytes);
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
  const std::uint64_t now = status_of(handle_.fd(), path_).bytes;
  if (now != size_)
    throw DataError(concat(path_.native(), ": had ", size_, " bytes when it was opened and has ", now, " now; it was changed ",
                           "while being read"));
}

bool is_there(const std::filesystem::path& path) { return system_files::status(path).has_value(); }
bool is_folder(const std::filesystem::path& path) {
  const auto status = system_files::status(path);
  return status && status->kind == FileKind::folder;
}
bool is_file(const std::filesystem::path& path) {
  const auto status = system_files::status(path);
  return status && status->kind == FileKind::file;
}
bool is_same(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto one = system_files::status(a), other = system_files::status(b);
  return one && other && one->device == other->device && one->number == other->number;
}

std::string small_text(const std::filesystem::path& path, std::string_view what, std::uint64_t most) {
  const InputFile file(path);
  if (file.size() > most) throw DataError(concat(path.string(), ": ", file.size(), " bytes; ", what, " has at most ", most));
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, text.data(), text.size());
  refuse_lfs_pointer(path, text);
  return text;
}

void refuse_lfs_pointer(const std::filesystem::path& path, std::string_view text) {
  if (text.size() >= kLargestLfsPointer || !text.starts_with(kLfsBeginning)) return;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  throw DataError(concat(path.string(), ": is a Git LFS pointer of ", text.size(), " bytes", lfs_size_text(text),
                         ", not the file itself; run 'git lfs pull' in ", folder.string()));
}

void refuse_lfs_pointer(const InputFile& file) {
  if (file.size() >= kLargestLfsPointer) return;
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, text.data(), text.size());
  refuse_lfs_pointer(file.path(), text);
}

ReplacementFile::ReplacementFile(const std::filesystem::path& path) : path_(checked_target(path)), handle_(-1) {
  temporary_ = create_beside(path_, handle_);
}

ReplacementFile::~ReplacementFile() {
  if (!committed_) system_files::remove(temporary_);
}

void ReplacementFile::fail(const char* doing) const {
  throw DataError(concat(path_.native(), ": ", doing, " failed: ", reason(errno), "; what was there before is unchanged"));
}

void ReplacementFile::write(const void* from, std::size_t bytes) {
  const auto* next = static_cast<const char*>(from);
  while (bytes > 0) {
    const std::ptrdiff_t done = system_files::write_next(handle_.fd(), next, bytes);
    if (done < 0) fail("writing");
    next += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

void ReplacementFile::check_by(const std::function<void(const std::filesystem::path& written)>& verify) const {
  // Verify what is on the disk, not what is cached; where the cache cannot be dropped, it is still a check.
  system_files::forget_cached(handle_.fd());
  try {
    verify(temporary_);
  } catch (const DataError& error) {
    throw DataError(
        concat(path_.native(), ": what was written does not read back: ", error.what(), "; what was there before is unchanged"));
  }
}

void ReplacementFile::commit(const std::function<void(const std::filesystem::path& written)>& verify) {
  if (!system_files::sync(handle_.fd())) fail("writing to the disk");
  if (verify) check_by(verify);
  if (!system_files::close(handle_.release())) fail("closing");
  if (!system_files::rename(temporary_, path_)) fail("renaming");
  committed_ = true;
  if (!system_files::sync_folder(folder_of(path_)))
    throw DataError(concat(path_.native(), ": the new file is in place, but its folder could not be synced: ", reason(errno),
                           "; a power failure may bring the old one back"));
}

void replace_text(const std::filesystem::path& path, std::string_view text) {
  ReplacementFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

void copy_whole_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  const InputFile file(from);
  ReplacementFile copy(to);
  std::string block(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 1 << 20)), '\0');
  for (std::uint64_t at = 0; at < file.size(); at += block.size()) {
    block.resize(static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), file.size() - at)));
    file.read(at, block.data(), block.size());
    copy.write(block.data(), block.size());
  }
  copy.commit();
}

void make_folder(const std::filesystem::path& folder) {
  require_plain_path(folder);
  if (is_folder(folder)) return;
  if (!folder.has_filename()) return make_folder(folder.parent_path());  // "runs/one/"
  const std::filesystem::path around = folder_of(folder);
  make_folder(around);
  if (!system_files::make_folder(folder) && errno != EEXIST)
    throw DataError(concat(folder.native(), ": the folder cannot be made: ", reason(errno)));
  if (!is_folder(folder))
    throw DataError(concat(folder.native(), ": a folder is needed, and there is something else; move it away"));
  if (!system_files::sync_folder(around))
    throw DataError(concat(folder.native(), ": the folder around it could not be synced: ", reason(errno)));
}

std::vector<std::filesystem::path> remove_leftovers(const std::filesystem::path& folder,
                                                    const std::function<bool(std::string_view name)>& ours) {
  std::vector<std::filesystem::path> removed;
  const auto all = system_files::entries(folder);
  if (!all) return removed;
  for (const std::filesystem::path& path : *all) {
    const std::string name = path.filename().native();
    const long process = process_of(name);
    if (process > 0 && ours && !ours(std::string_view(name).substr(0, name.rfind(".tmp.")))) continue;
    // Ours is from a process before us that had our id, as is usual in containers: we have not begun to write.
    const bool living = process > 0 && process != system_files::process() && system_files::lives(process);
    if (process > 0 && !living && system_files::remove(path)) removed.push_back(path);
  }
  return removed;
}

}  // namespace addnorm
