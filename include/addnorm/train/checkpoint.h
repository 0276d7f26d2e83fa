// Checkpoints: a run as it stands after a step, on disk, complete or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "addnorm/tensor/tensor.h"

namespace addnorm {

/// Everything that the next step depends on. Tensors are shared with their owner, not copied.
struct Snapshot {
  std::int64_t step = 0;                                  ///< updates done
  std::vector<std::pair<std::string, Tensor>> tensors{};  ///< "model.layers.0...", "optimizer.layers.0....m"
  std::string record{};  ///< JSON of all that is no tensor: options, tokens seen, guard window, best loss
};

/// One file `step-00000040.safetensors` per checkpoint in a folder. It is written beside, flushed to disk, read back and
/// verified, renamed, and the folder flushed; only then are older ones removed, and never below `keep`. A 64-bit checksum per
/// tensor and one for the rest tell every changed bit.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::filesystem::path folder, std::size_t keep = 2);

  /// DataError when the system refuses; then what was there is as it was.
  void save(const Snapshot& snapshot);

  /// The newest that verifies; nothing where there is none. `broken` hears of each newer one that does not, by file and reason;
  /// those are left where they are.
  std::optional<Snapshot> newest(const std::function<void(const std::string& message)>& broken) const;
  /// This file, verified; a DataError names file and tensor.
  static Snapshot read(const std::filesystem::path& file);
  std::vector<std::filesystem::path> files() const;  ///< oldest first, verified or not

 private:
  std::filesystem::path folder_;
  std::size_t keep_;
};

/// The lock of a run folder: held until it is destroyed or the process ends, however it ends. A UsageError tells who has it.
class RunLock {
 public:
  explicit RunLock(const std::filesystem::path& run);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace addnorm
