#include "train/run/trial_folder.h"

#include <utility>
#include <vector>

#include "core/file.h"
#include "core/system/files.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

std::set<fs::path> ids_in(const fs::path& folder) {
  std::set<fs::path> found;
  for (const fs::path& path : system_files::entries(folder).value_or(std::vector<fs::path>{}))
    if (path.extension() == ".tokens") found.insert(path);
  return found;
}

}  // namespace

TrialFolder::TrialFolder(fs::path folder) : folder_(system_files::absolute(folder).lexically_normal()), before_(ids_in(folder_)) {
  for (fs::path at = folder_; at.has_relative_path() && !is_there(at); at = at.parent_path()) missing_.push_back(at);
}

// Only what is empty: another process may have begun its run here meanwhile.
TrialFolder::~TrialFolder() {
  if (kept_) return;
  for (const fs::path& ids : ids_in(folder_))
    if (!before_.contains(ids)) system_files::remove(ids);
  for (const fs::path& made : missing_) system_files::remove_empty_folder(made);
}

}  // namespace addnorm
