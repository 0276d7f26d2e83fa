// What a clone holds in place of a large file is recognised.
#include "core/file.h"

#include <gtest/gtest.h>

#include "support/folder.h"
#include "support/near.h"

namespace addnorm {
namespace {

const std::string kPointer =
    "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n";

TEST(GitLfs, APointerIsReportedWithItsSizeAndThatOfTheFileItStandsFor) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("model/weights.bin", kPointer + "size 548105171\n");
  const std::string message = concat(path.string(), ": is a Git LFS pointer of ", kPointer.size() + 15,
                                     " bytes that stands for 548105171 bytes, not the file itself; run 'git lfs pull' in ",
                                     (folder.path / "model").string());
  EXPECT_TRUE(test::throws_saying<DataError>([&] { refuse_lfs_pointer(InputFile(path)); }, {message}));
  EXPECT_TRUE(test::throws_saying<DataError>([&] { small_text(path, "a config"); }, {message}));
  EXPECT_TRUE(test::throws_saying<DataError>([&] { refuse_lfs_pointer("a", kPointer + "size 7\r\n"); },
                                             {"stands for 7 bytes", "run 'git lfs pull' in ."}));
}

TEST(GitLfs, APointerWithoutAReadableSizeIsStillOne) {
  for (const char* size : {"", "size \n", "size much\n", "size 99999999999999999999999\n"})
    EXPECT_TRUE(
        test::throws_saying<DataError>([&] { refuse_lfs_pointer("a", kPointer + size); }, {" bytes, not the file itself"}));
}

TEST(GitLfs, OtherFilesAreNone) {
  const test::TemporaryFolder folder;
  for (const std::string& text : {std::string(), std::string("version"), "\n" + kPointer, kPointer + std::string(1024, ' ')}) {
    EXPECT_NO_THROW(refuse_lfs_pointer("a", text));
    EXPECT_NO_THROW(refuse_lfs_pointer(InputFile(folder.write("a", text))));
  }
}

}  // namespace
}  // namespace addnorm
