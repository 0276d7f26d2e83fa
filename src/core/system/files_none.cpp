// No files: whoever wants to open one gets a DataError. For platforms that have none, such as a page in a browser.
#include <cerrno>

#include "addnorm/core/error.h"
#include "core/system/files.h"

namespace addnorm::system_files {
namespace {

[[noreturn]] void refuse_file(const std::filesystem::path& path) {
  throw DataError(concat(path.string(), ": this build of addnorm has no files (ADDNORM_FILES=none); hand over what is in it"));
}
template <class Answer>
Answer not_here(Answer answer) {
  errno = ENOSYS;
  return answer;
}

}  // namespace

int open_for_reading(const std::filesystem::path& path) { refuse_file(path); }
int open_for_appending(const std::filesystem::path& path) { refuse_file(path); }
int open_new(const std::filesystem::path& path) { refuse_file(path); }
int open_lock(const std::filesystem::path& path, bool) { refuse_file(path); }
int open_standard_input() { refuse_file("standard input"); }
bool close(int) { return not_here(false); }

std::optional<FileStatus> status(int) { return not_here(std::nullopt); }
std::optional<FileStatus> status(const std::filesystem::path& path) {
  if (path == "." || path == "/") return FileStatus{.kind = FileKind::folder};  // what would be there is in these
  return not_here(std::nullopt);
}
std::optional<FileStatus> link_status(const std::filesystem::path&) { return not_here(std::nullopt); }
std::optional<std::filesystem::path> link_target(const std::filesystem::path&) { return not_here(std::nullopt); }
void copy_permissions(const std::filesystem::path&, int) {}

std::ptrdiff_t read_at(int, std::uint64_t, void*, std::size_t) { return not_here(-1); }
std::ptrdiff_t read_next(int, void*, std::size_t, int) { return not_here(-1); }
std::ptrdiff_t write_next(int, const void*, std::size_t) { return not_here(-1); }

bool cut(int, std::uint64_t) { return not_here(false); }
bool sync(int) { return not_here(false); }
void forget_cached(int) {}

const unsigned char* map(int, std::size_t) { return not_here(nullptr); }
void unmap(const unsigned char*, std::size_t) {}

FileLock lock(int, bool) { return not_here(FileLock::refused); }
void unlock(int) {}

bool rename(const std::filesystem::path&, const std::filesystem::path& to) { refuse_file(to); }
bool remove(const std::filesystem::path&) { return not_here(false); }
bool make_folder(const std::filesystem::path& folder) { refuse_file(folder); }
bool remove_empty_folder(const std::filesystem::path&) { return not_here(false); }
bool sync_folder(const std::filesystem::path&) { return not_here(false); }
std::optional<std::vector<std::filesystem::path>> entries(const std::filesystem::path&) { return not_here(std::nullopt); }

std::filesystem::path absolute(const std::filesystem::path& path) { return path; }
std::optional<std::filesystem::path> canonical(const std::filesystem::path&) { return not_here(std::nullopt); }

long process() { return 1; }
bool lives(long) { return false; }
bool at_fork(void (*)(), void (*)(), void (*)()) { return true; }

}  // namespace addnorm::system_files
