// docs/testing.md, S-01 to S-12: files that are not safetensors files at all.
#include <sys/stat.h>
#include <unistd.h>

#include "tensor/safetensors/support.h"

namespace addnorm::test {
namespace {

const std::string kOne = framed("{\"a\":" + entry("\"F32\"", "[1]", "[0,4]") + "}", "abcd");

TEST_F(Safetensors, ST01_RejectsAnEmptyFile) { EXPECT_TRUE(rejects("", {"0 bytes"})); }

TEST_F(Safetensors, ST02_RejectsOneToSevenBytes) {
  for (std::size_t n = 1; n < 8; ++n) EXPECT_TRUE(rejects(kOne.substr(0, n), {std::to_string(n) + " bytes"}));
}

TEST_F(Safetensors, ST03_RejectsALengthWithNothingAfterIt) { EXPECT_TRUE(rejects(length_bytes(60), {"60", "truncated"})); }

TEST_F(Safetensors, ST04_RejectsAHeaderOfNoBytes) {
  EXPECT_TRUE(rejects(length_bytes(0), {"empty"}));
  EXPECT_TRUE(rejects(length_bytes(0) + "{}", {"empty"}));
}

TEST_F(Safetensors, ST05_RejectsAHeaderOfOneByte) { EXPECT_TRUE(rejects(framed("{"), {"not JSON"})); }

TEST_F(Safetensors, ST06_RejectsALengthOneAboveTheFile) {
  EXPECT_TRUE(rejects(length_bytes(kOne.size() - 7) + kOne.substr(8), {std::to_string(kOne.size() - 7), "truncated"}));
}

TEST_F(Safetensors, ST07_RejectsAHeaderAboveAHundredMillionBytes) {
  EXPECT_TRUE(rejects(length_bytes(100'000'001) + "{}", {"100000001", "at most 100000000"}));
  const auto bytes = length_bytes(100'000'001) + "{}";
  write_file(file(), bytes);
  std::filesystem::resize_file(file(), 200'000'000);  // sparse: the bytes are there, still too many
  EXPECT_TRUE(throws_saying<DataError>([&] { SafetensorsReader r(file()); }, {"at most 100000000"}));
}

TEST_F(Safetensors, ST08_RejectsLengthsThatWrapAround) {
  for (const std::uint64_t n : {std::uint64_t{1} << 63, ~std::uint64_t{0}, ~std::uint64_t{0} - 7})
    EXPECT_TRUE(rejects(length_bytes(n) + kOne.substr(8), {std::to_string(n)}));
}

TEST_F(Safetensors, ST09_RejectsALengthOfAThousandOnAHundredBytes) {
  EXPECT_TRUE(rejects(length_bytes(1000) + std::string(92, ' '), {"1000", "92"}));
}

TEST_F(Safetensors, ST10_NamesAGitLfsPointer) {
  EXPECT_TRUE(rejects("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 548105171\n",
                      {"is a Git LFS pointer of 74 bytes that stands for 548105171 bytes", "git lfs pull"}));
}

TEST_F(Safetensors, ST11_NamesOtherFormats) {
  EXPECT_TRUE(rejects("<!DOCTYPE html><html><body>Sign in</body></html>", {"HTML"}));
  EXPECT_TRUE(rejects("<html>", {"HTML"}));
  EXPECT_TRUE(rejects(std::string("PK\x03\x04\x00\x00\x08\x08\x00\x00 archive/data.pkl", 26), {"zip", "torch.load"}));
  EXPECT_TRUE(
      rejects(std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15), {"pickle", "safetensors.torch"}));
  EXPECT_TRUE(rejects(std::string("\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}.", 13), {"pickle"}));
  EXPECT_TRUE(rejects(std::string("GGUF\x03\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00", 16), {"GGUF"}));
  EXPECT_TRUE(rejects(R"({"model_type": "gpt2"})", {"JSON text"}));
}

TEST_F(Safetensors, ST11_ALengthThatLooksLikePickleIsStillALength) {
  std::string json = "{\"a\":" + entry("\"F32\"", "[1]", "[0,4]") + "}";
  json.resize(0x0280, ' ');  // the file starts with the bytes 80 02
  EXPECT_TRUE(accepts(framed(json, "abcd"), 1));
}

TEST_F(Safetensors, ST12_RejectsWhatIsNoRegularFileWithoutWaiting) {
  const auto refused = [](const std::filesystem::path& path, const char* part) {
    return throws_saying<DataError>([&] { SafetensorsReader r(path); }, {path.native(), part});
  };
  EXPECT_TRUE(refused(folder_.path(), "a directory"));
  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
  EXPECT_TRUE(refused(file(), "a named pipe"));
  EXPECT_TRUE(refused("/dev/zero", "a device"));
  EXPECT_TRUE(refused(folder_.path() / "absent", "No such file"));
  EXPECT_TRUE(refused(folder_.path() / std::string(300, 'x'), "too long"));
  EXPECT_TRUE(throws_saying<UsageError>([&] { SafetensorsReader r(std::string("model\0.safetensors", 18)); }, {"NUL"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { SafetensorsReader r(""); }, {"empty"}));
}

TEST_F(Safetensors, ST12_RejectsAFileItMayNotRead) {
  write_file(file(), kOne);
  std::filesystem::permissions(file(), std::filesystem::perms::none);
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const auto result = throws_saying<DataError>([&] { SafetensorsReader r(file()); }, {file().native(), "Permission denied"});
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  EXPECT_TRUE(result);
}

TEST_F(Safetensors, FollowsASymbolicLinkThatTheUserNamed) {
  write_file(file(), kOne);
  const auto link = folder_.path() / "link";
  std::filesystem::create_symlink(file(), link);
  EXPECT_EQ(SafetensorsReader(link).size(), 1u);
}

}  // namespace
}  // namespace addnorm::test
