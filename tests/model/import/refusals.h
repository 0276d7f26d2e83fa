// Copies of goldens in which one thing is wrong, and what an import must say of it.
#pragma once

#include <gtest/gtest.h>

#include "addnorm/model/import.h"
#include "core/printable.h"
#include "support/folder.h"
#include "support/models/import_files.h"
#include "support/threads.h"

namespace addnorm::test {

/// What lists the tensors of a checkpoint in several files.
inline constexpr const char* kIndex = "model.safetensors.index.json";

/// One line, safe to print, that names the file or folder and says all of these.
inline void expect_refused(const std::filesystem::path& path, const std::vector<std::string>& parts,
                           const ImportOptions& options = {}) {
  try {
    import_model(path, options);
    ADD_FAILURE() << path << " was imported";
  } catch (const DataError& error) {
    const std::string what = error.what();
    EXPECT_TRUE(what.starts_with((std::filesystem::is_directory(path) ? path : path.parent_path()).string())) << what;
    EXPECT_EQ(what, printable(what));
    for (const std::string& part : parts) EXPECT_NE(what.find(part), std::string::npos) << part << " is not in: " << what;
  }
}

class Refused : public testing::Test {
 protected:
  std::filesystem::path golden(const std::string& name) {
    const std::filesystem::path to = folder.path / std::to_string(count++);
    return copy_of_golden(name, to);
  }
  void SetUp() override { set_threads(1); }  // thousands of tiny calls would mostly wake threads
  TemporaryFolder folder;
  int count = 0;

 private:
  RestoreThreads restore_;
};

}  // namespace addnorm::test
