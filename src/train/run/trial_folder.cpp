#include "train/run/trial_folder.h"

#include <system_error>
#include <utility>

namespace addnorm {
namespace {

namespace fs = std::filesystem;

std::set<fs::path> ids_in(const fs::path& folder) {
  std::set<fs::path> found;
  std::error_code none;
  for (fs::directory_iterator at(folder, none), end; !none && at != end; at.increment(none))
    if (at->path().extension() == ".tokens") found.insert(at->path());
  return found;
}

}  // namespace

TrialFolder::TrialFolder(fs::path folder) : folder_(fs::absolute(folder).lexically_normal()), before_(ids_in(folder_)) {
  std::error_code unknown;
  for (fs::path at = folder_; at.has_relative_path() && !fs::exists(at, unknown); at = at.parent_path()) missing_.push_back(at);
}

// Only what is empty: another process may have begun its run here meanwhile.
TrialFolder::~TrialFolder() {
  if (kept_) return;
  std::error_code stays;
  for (const fs::path& ids : ids_in(folder_))
    if (!before_.contains(ids)) fs::remove(ids, stays);
  for (const fs::path& made : missing_) fs::remove(made, stays);
}

}  // namespace addnorm
