// Replacing a file: through links, beside what is there, or not at all.
#include "core/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "support/near.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

class File : public testing::Test {
 protected:
  File() {
    std::string name = (fs::temp_directory_path() / "addnorm-file-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~File() override { fs::remove_all(folder_); }

  static void save(const fs::path& path, const std::string& text) {
    ReplacementFile file(path);
    file.write(text.data(), text.size());
    file.commit();
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path folder_;
};

TEST_F(File, SavedThroughALinkReplacesWhatTheLinkLeadsToAndKeepsTheLink) {
  fs::create_directory(folder_ / "elsewhere");
  save(folder_ / "elsewhere" / "file", "old");
  fs::create_symlink("elsewhere/file", folder_ / "relative");
  fs::create_symlink(folder_ / "relative", folder_ / "absolute, to a link");

  save(folder_ / "absolute, to a link", "new");
  EXPECT_EQ(text_of(folder_ / "elsewhere" / "file"), "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "relative"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "absolute, to a link"));
}

TEST_F(File, SavedThroughALinkToNothingMakesTheFileThatTheLinkNames) {
  fs::create_symlink("later", folder_ / "link");
  save(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(text_of(folder_ / "later"), "new");
}

TEST_F(File, LinksInACircleAreAnErrorThatNamesThePath) {
  fs::create_symlink("b", folder_ / "a");
  fs::create_symlink("a", folder_ / "b");
  EXPECT_TRUE(test::throws_saying<DataError>([&] { save(folder_ / "a", "new"); }, {folder_.string()}));
}

TEST_F(File, AFileInALinkedFolderIsReplacedThere) {
  fs::create_directory(folder_ / "real");
  fs::create_directory_symlink("real", folder_ / "linked");
  save(folder_ / "linked" / "file", "new");
  EXPECT_EQ(text_of(folder_ / "real" / "file"), "new");
}

TEST_F(File, AFolderThatCannotBeSyncedIsReportedWithTheNewFileInPlace) {
  save(folder_ / "file", "old");
  ReplacementFile file(folder_ / "file");
  file.write("new", 3);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);  // from here on nothing can be opened, the folder included
  const auto reported = test::throws_saying<DataError>([&] { file.commit(); },
                                                       {(folder_ / "file").string(), "in place", "folder", "power failure"});
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(reported);
  EXPECT_EQ(text_of(folder_ / "file"), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(File, NotCommittedLeavesWhatWasThereAndNothingElse) {
  save(folder_ / "file", "old");
  {
    ReplacementFile file(folder_ / "file");
    file.write("new", 3);
  }
  EXPECT_EQ(text_of(folder_ / "file"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace addnorm
