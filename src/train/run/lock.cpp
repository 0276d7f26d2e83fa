#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <string_view>
#include <system_error>

#include "addnorm/core/error.h"
#include "addnorm/train/checkpoint.h"
#include "core/file.h"
#include "core/system/files.h"
#include "core/system/machine.h"
#include "core/system/mutex.h"

namespace addnorm {
namespace {

using system_files::FileLock;

// An flock belongs to the open file, which a forked child shares: a child that outlives its parent would hold the lock for it.
// So a child closes the files of its parent's locks; that gives up nothing, since the parent has them too.
Mutex held_mutex;
std::set<int>& held() {
  static std::set<int> fds;
  return fds;
}

void lock_held() { held_mutex.lock(); }
void unlock_held() { held_mutex.unlock(); }
void close_held_in_child() {
  for (const int fd : held()) system_files::close(fd);
  held().clear();
  held_mutex.unlock();
}

void hold(int fd) {
  static const bool registered = system_files::at_fork(lock_held, unlock_held, close_held_in_child);
  if (!registered) throw Error("RunLock: no memory for a handler");
  const MutexLock lock(held_mutex);
  held().insert(fd);
}

bool same_file(int fd, const std::filesystem::path& path) {
  const auto open_one = system_files::status(fd), named = system_files::status(path);
  return open_one && named && open_one->number == named->number && open_one->device == named->device;
}

std::string this_process() { return concat("process ", system_files::process(), " on ", host_name()); }

[[noreturn]] void refuse_held(int fd, const std::filesystem::path& run, const FieldWords& words) {
  std::array<char, 512> text{};
  const std::ptrdiff_t got = system_files::read_at(fd, 0, text.data(), text.size() - 1);
  std::string who(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  who.resize(std::min(who.find('\n'), who.size()));
  if (who == this_process()) who += ", which is this one";
  throw Error(concat(run.native(), ": this run is in use by ", who.empty() ? "another process" : who,
                     "; wait for it or stop it, or use another folder", words ? concat(" (", words("folder"), ")") : ""));
}

void write_owner(int fd) {
  const std::string who = this_process() + "\n";
  // The text is only for the message to a second process, which is refused without it too.
  if (!system_files::cut(fd, 0) || system_files::write_next(fd, who.data(), who.size()) < 0) errno = 0;
}

FileHandle locked(const std::filesystem::path& run, const std::filesystem::path& path, const FieldWords& words) {
  for (;;) {
    FileHandle file(system_files::open_lock(path, true));
    const auto fail = [&](const char* doing) {
      throw DataError(concat(path.native(), ": cannot be ", doing, ": ", std::generic_category().message(errno)));
    };
    if (file.fd() < 0) fail("opened");
    const FileLock lock = system_files::lock(file.fd(), false);
    if (lock == FileLock::held_by_another) refuse_held(file.fd(), run, words);
    if (lock == FileLock::refused) fail("locked");
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

RunLock::RunLock(const std::filesystem::path& run, const FieldWords& words) : file_(run / "lock") {
  make_folder(run);
  FileHandle file = locked(run, file_, words);
  write_owner(file.fd());
  remove_leftovers_inside(run);
  hold(file.fd());
  fd_ = file.release();
}

void RunLock::check_free(const std::filesystem::path& run, const FieldWords& words) {
  const FileHandle file(system_files::open_lock(run / "lock", false));
  if (file.fd() < 0) return;
  if (system_files::lock(file.fd(), true) == FileLock::held_by_another) refuse_held(file.fd(), run, words);
}

bool RunLock::guards_its_folder() const { return same_file(fd_, file_); }

RunLock::~RunLock() {
  const MutexLock lock(held_mutex);
  if (held().erase(fd_) == 0) return;  // in a forked child, which closed it when it began
  system_files::unlock(fd_);           // a child forked this moment may not have closed it yet
  system_files::close(fd_);
}

}  // namespace addnorm
