// What the library asks of the file system. One source file for each kind of system; ADDNORM_FILES chooses
// (cmake/platform.cmake). Functions answer as the system's own calls do: -1, false or nothing means refused, and errno says why.
// They go on after a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace addnorm::system_files {

enum class FileKind { file, folder, link, pipe, device, socket, other };
struct FileStatus {
  FileKind kind = FileKind::other;
  std::uint64_t bytes = 0;
  std::uint64_t device = 0, number = 0;  ///< the same pair: the same file
  std::int64_t changed = 0;              ///< nanoseconds since 1970
};

// A descriptor. Children do not inherit it, and opening a pipe that nobody writes to does not block.
int open_for_reading(const std::filesystem::path& path);
int open_for_appending(const std::filesystem::path& path);      ///< made where there is none
int open_new(const std::filesystem::path& path);                ///< to read and write; EEXIST where there is one
int open_lock(const std::filesystem::path& path, bool create);  ///< to be locked; no link is followed
int open_standard_input();
bool close(int fd);

std::optional<FileStatus> status(int fd);
std::optional<FileStatus> status(const std::filesystem::path& path);       ///< of what a link leads to
std::optional<FileStatus> link_status(const std::filesystem::path& path);  ///< of the link itself
std::optional<std::filesystem::path> link_target(const std::filesystem::path& path);
void copy_permissions(const std::filesystem::path& from, int fd);  ///< as far as the system allows

// One call: how many bytes were moved, which may be fewer than asked for. 0 from a read: the end.
std::ptrdiff_t read_at(int fd, std::uint64_t offset, void* into, std::size_t bytes);
/// The next bytes of a file or a pipe, waiting at most so long; -1 with EAGAIN: nothing came.
std::ptrdiff_t read_next(int fd, void* into, std::size_t bytes, int milliseconds);
std::ptrdiff_t write_next(int fd, const void* from, std::size_t bytes);

bool cut(int fd, std::uint64_t bytes);  ///< the file ends there
bool sync(int fd);                      ///< what was written outlasts a power failure
void forget_cached(int fd);             ///< the next read comes from the disk, where the system can do that

const unsigned char* map(int fd, std::size_t bytes);  ///< to read; null: refused
void unmap(const unsigned char* mapped, std::size_t bytes);

enum class FileLock { taken, held_by_another, refused };
FileLock lock(int fd, bool shared);  ///< does not wait; the process loses it when it closes the file or ends
void unlock(int fd);

bool rename(const std::filesystem::path& from, const std::filesystem::path& to);  ///< in place of what `to` names
bool remove(const std::filesystem::path& file);
bool make_folder(const std::filesystem::path& folder);  ///< EEXIST where there is one
bool remove_empty_folder(const std::filesystem::path& folder);
bool sync_folder(const std::filesystem::path& folder);  ///< names in it outlast a power failure, as far as the system can do that
/// What is in a folder, in no order, without "." and "..". (The standard library's iterator ends the program when memory runs
/// out.)
std::optional<std::vector<std::filesystem::path>> entries(const std::filesystem::path& folder);

std::filesystem::path absolute(const std::filesystem::path& path);  ///< from the current folder
/// Absolute, without links; nothing where something on the way is missing.
std::optional<std::filesystem::path> canonical(const std::filesystem::path& path);

long process();  ///< that this is
bool lives(long process);
/// Calls these around every fork from now on.
bool at_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

}  // namespace addnorm::system_files
