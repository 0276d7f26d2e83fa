// Checkpoints: a run as it stands after a step, on disk, complete or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "addnorm/core/names.h"
#include "addnorm/tensor/safetensors.h"
#include "addnorm/tensor/tensor.h"

namespace addnorm {

/// Everything that the next step depends on. Tensors are shared with their owner, not copied.
struct Snapshot {
  std::int64_t step = 0;                                  ///< updates done
  std::vector<std::pair<std::string, Tensor>> tensors{};  ///< "model.layers.0...", "optimizer.layers.0....m"; float32 or float64
  std::string record{};  ///< JSON of all that is no tensor: options, tokens seen, guard window, best loss
};

/// A checkpoint on disk that has verified. Its tensors are read one by one: going on from it needs no second copy of them.
class CheckpointFile {
 public:
  /// A DataError names file and tensor. A file named step-N holds step N.
  explicit CheckpointFile(const std::filesystem::path& file);

  std::int64_t step() const { return step_; }
  const std::string& record() const { return record_; }
  const SafetensorsReader& tensors() const { return reader_; }
  Snapshot snapshot() const;  ///< all of it in memory

 private:
  SafetensorsReader reader_;
  std::int64_t step_;
  std::string record_;
};

/// One file `step-00000040.safetensors` per checkpoint in a folder (docs/file-formats.md). It is written beside, flushed to disk,
/// read back and verified, renamed, and the folder flushed; only then are older ones removed. A 64-bit checksum per tensor and
/// one for the rest detect every changed bit. One process at a time writes there: see RunLock.
class CheckpointFolder {
 public:
  /// Nothing is made or read yet. `keep` >= 2: so many that verify stay when older ones are removed.
  explicit CheckpointFolder(std::filesystem::path folder, std::size_t keep = 2);

  /// Makes the folder where there is none. DataError when the system refuses, naming file and reason: then what was there is as
  /// it was, the snapshot too, and the next save() starts afresh. What does not verify is neither removed nor counted. A folder
  /// that is another one than in earlier calls (moved, or its link changed) and holds checkpoints already is refused.
  void save(const Snapshot& snapshot);

  /// The newest that verifies; nothing where there is none. `broken` hears of each newer one that does not, by file and reason;
  /// those are left where they are.
  std::optional<CheckpointFile> newest_file(const std::function<void(const std::string& message)>& broken) const;
  std::optional<Snapshot> newest(const std::function<void(const std::string& message)>& broken) const;
  static Snapshot read(const std::filesystem::path& file);  ///< this one, verified
  std::vector<std::filesystem::path> files() const;         ///< oldest first, verified or not; none when there is no such folder

 private:
  struct Known {  // what a file was like when it verified
    std::uint64_t file = 0, bytes = 0;
    std::int64_t changed = 0;
    bool operator==(const Known&) const = default;
  };
  void check_same_folder();
  bool verifies(const std::filesystem::path& file);
  void remove_old(const std::filesystem::path& saved);
  static Known known(const std::filesystem::path& file);

  std::filesystem::path folder_;
  std::size_t keep_;
  std::pair<std::uint64_t, std::uint64_t> identity_{};  // device and inode of the folder; zeros: not yet seen
  std::map<std::filesystem::path, Known> verified_;
};

/// The lock of a run folder, which is made where there is none: held until it is destroyed or the process ends, however it ends;
/// a forked child does not hold it. An Error names the holder by process and machine; `words`: what it calls the folder. Under
/// it, what killed processes left half written is removed from the folder and those directly inside.
class RunLock {
 public:
  explicit RunLock(const std::filesystem::path& run, const FieldWords& words = nullptr);
  ~RunLock();
  /// Throws as the constructor does when the lock is held; takes it not, and makes nothing.
  static void check_free(const std::filesystem::path& run, const FieldWords& words = nullptr);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// False when the folder, or the lock in it, was removed, moved or replaced: others could lock what is there now.
  bool guards_its_folder() const;

 private:
  std::filesystem::path file_;
  int fd_ = -1;
};

}  // namespace addnorm
