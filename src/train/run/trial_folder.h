// The folder of a run before it is one.
#pragma once

#include <filesystem>
#include <set>
#include <vector>

namespace addnorm {

/// Where ids of text are kept in the folder of the run itself, the folder is made before the run is known to be possible. Unless
/// keep() is called, what was made for that is removed: ids, and folders that hold nothing else.
class TrialFolder {
 public:
  explicit TrialFolder(std::filesystem::path folder);
  ~TrialFolder();
  TrialFolder(const TrialFolder&) = delete;
  TrialFolder& operator=(const TrialFolder&) = delete;
  void keep() { kept_ = true; }

 private:
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> missing_;  // folders, the deepest first
  std::set<std::filesystem::path> before_;      // ids that were there
  bool kept_ = false;
};

}  // namespace addnorm
