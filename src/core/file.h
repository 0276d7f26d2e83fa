// Files: exact reads from a regular file, and replacing a file as a whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace addnorm {

/// A file descriptor, closed with its owner.
class FileHandle {
 public:
  explicit FileHandle(int fd) : fd_(fd) {}
  FileHandle(FileHandle&& other) noexcept : fd_(other.release()) {}
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle();
  int fd() const { return fd_; }
  int release();  ///< gives up ownership

 private:
  int fd_;
};

/// A regular file opened for reading; anything else (directory, FIFO, device) is refused without blocking. All errors are
/// DataError and name the file; a path with a NUL byte is a UsageError. Reads use pread: a file that shrinks meanwhile
/// is an error, where a mapping would end the process. Reading from several threads at once is fine.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }  ///< when it was opened
  int fd() const { return handle_.fd(); }       ///< for what is not reading, such as a mapping
  /// Exactly `bytes` bytes from `offset` on.
  void read(std::uint64_t offset, void* into, std::size_t bytes) const;
  /// Throws when the file has grown or shrunk since it was opened.
  void expect_same_size() const;

 private:
  std::filesystem::path path_;
  FileHandle handle_;
  std::uint64_t size_ = 0;
};

// What a path leads to. Where the system does not say, the answer is no.
bool is_there(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);
bool is_file(const std::filesystem::path& path);
bool is_same(const std::filesystem::path& a, const std::filesystem::path& b);  ///< both are there, and are one

/// All of a small text file. More than `most` bytes are a DataError: it is not `what` ("a row of an arrangement"); and so is a
/// pointer of Git LFS.
std::string small_text(const std::filesystem::path& path, std::string_view what, std::uint64_t most = std::uint64_t{1} << 20);

/// A DataError if the file is a pointer of Git LFS, which a clone holds in place of a large file that was not fetched: its size,
/// the size of the file it stands for, and how to fetch that. Larger files than pointers can be are not read.
void refuse_lfs_pointer(const InputFile& file);
/// The same of a text that was read from `path` already.
void refuse_lfs_pointer(const std::filesystem::path& path, std::string_view text);

/// Writes beside `path`, as `name.tmp.<process>`, and takes its place in commit(): readers see the old file or the new one, also
/// after a power failure. Without commit() the destructor removes what was written, and the old file is untouched. Where `path`
/// is a symbolic link, the file it leads to is replaced and the link stays.
class ReplacementFile {
 public:
  explicit ReplacementFile(const std::filesystem::path& path);
  ~ReplacementFile();
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;

  void write(const void* from, std::size_t bytes);
  /// `verify` reads what was written, from the disk, before it takes the place of the old file; when it throws a DataError,
  /// nothing is replaced.
  void commit(const std::function<void(const std::filesystem::path& written)>& verify = nullptr);

 private:
  [[noreturn]] void fail(const char* doing) const;
  void check_by(const std::function<void(const std::filesystem::path& written)>& verify) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  FileHandle handle_;
  bool committed_ = false;
};

/// `text` in place of what `path` holds.
void replace_text(const std::filesystem::path& path, std::string_view text);

/// What `from` holds in place of what `to` holds.
void copy_whole_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// The folder and those around it, where they are not there yet; they outlast a power failure. DataError.
void make_folder(const std::filesystem::path& folder);

/// Removes what processes that are gone left of their ReplacementFiles in this folder. Only for a folder that one machine writes
/// to: a process on another machine does not count as alive. Names what was removed.
std::vector<std::filesystem::path> remove_leftovers(const std::filesystem::path& folder,
                                                    const std::function<bool(std::string_view name)>& ours = {});

}  // namespace addnorm
