// A disk that fails on request, and forgets what was not synced when the power fails. It stands between the program and the
// system: the calls themselves are replaced in programs that link faulty_disk.cpp, so the code under test is what users run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace addnorm::test {

enum class Call : unsigned char { open, write, pread, fsync, close, rename, unlink, mkdir };
const char* name_of(Call call);

/// What the disk surely has at one moment of a run, and what it may have besides. Files are numbered as they are made.
struct DiskState {
  struct Change {
    std::string remove, put;  ///< names; empty: none
    int file = -1;            ///< that `put` names
  };
  std::map<std::string, int> names{};                      ///< when the folder was last synced
  std::vector<Change> changes{};                           ///< since; any of them may have come to the disk
  std::map<int, std::string> synced_bytes{}, all_bytes{};  ///< of a file when it was last synced, and now
  std::int64_t promised = 0;                               ///< what the program takes for saved
};

/// Which part of what is not synced the power failure leaves.
enum class Unsynced : unsigned char { lost, kept, zeros, half };

/// The files after a power failure at that moment: bit i of `chosen` says whether change i came to the disk.
std::map<std::string, std::string> after_power_failure(const DiskState& state, std::uint64_t chosen, Unsynced unsynced);

/// Where there is no FaultyDisk: syncs return at once, for tests that save very often and cut no power.
extern bool skip_syncs;

/// While it lives, calls on paths in this folder (and the folder itself) go through it. One at a time.
class FaultyDisk {
 public:
  explicit FaultyDisk(std::filesystem::path folder);
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  /// From now on, the call of this kind with this number (from 0) fails.
  void fail(Call call, int number, int error);
  bool failed() const { return failed_; }  ///< there was such a call
  std::size_t write_at_most = SIZE_MAX;    ///< bytes per call
  bool interrupt = false;                  ///< every other write and read is interrupted by a signal (EINTR)
  bool ignore_file_sync = false;           ///< says that it synced and did not: as if the program had not asked
  bool ignore_folder_sync = false;
  bool whole_tree = false;  ///< folders inside count too; then only faults are made and nothing is recorded
  int every_change = 0;     ///< the error of every call that would change the disk: ENOSPC, EROFS; 0: none

  DiskState now{};                   ///< `promised` is the test's to set
  std::vector<DiskState> moments{};  ///< before every call that changes something
  std::vector<std::string> log{};    ///< "fsync folder", "rename a -> b"

  // For the calls.
  bool watches(const std::string& path) const;
  bool begins(Call call, const std::string& what);  ///< false: it fails, errno is set
  bool interrupted();
  void opened(int fd, const std::string& path, bool made);
  void wrote(int fd, const void* bytes, std::size_t count);
  void synced(int fd);
  void moved(const std::string& from, const std::string& to);
  std::string path_of(int fd) const;  ///< empty: not one of ours
  void closed(int fd) { open_.erase(fd); }

 private:
  std::string name_in(const std::string& path) const;

  std::filesystem::path folder_;
  Call failing_ = Call::open;
  int until_failure_ = -1, error_ = 0;
  bool failed_ = false, just_interrupted_ = false;
  std::map<int, std::string> open_;
  std::map<std::string, int> live_;  // names as the program sees them
  int made_ = 0;
};

}  // namespace addnorm::test
