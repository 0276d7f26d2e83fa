// What is written: S-44 of docs/testing.md, round trips, and that a failure leaves the old file as it was.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <limits>

#include "core/file.h"
#include "tensor/safetensors/header.h"
#include "tensor/safetensors/support.h"

namespace addnorm::test {
namespace {

using SafetensorsWrite = Safetensors;

SafetensorsWriter sample() {
  SafetensorsWriter writer;
  writer.add_bool("mask", {3}, std::vector<std::uint8_t>{1, 0, 1});
  writer.add("w", normal_tensor({3, 5}, 1));
  writer.add_i64("ids", {2, 2}, std::vector<std::int64_t>{1, -1, std::numeric_limits<std::int64_t>::min(), 7});
  writer.add("a \"quoted\" \\ \xe2\x82\xac", normal_tensor({}, 2));
  writer.add("double", normal_tensor({4}, 3, DType::f64));
  writer.add("none", Tensor({0, 7}));
  writer.set_metadata("format", "pt");
  writer.set_metadata("note", "tab\tline\nquote\"");
  return writer;
}

void copy_all(const SafetensorsReader& reader, SafetensorsWriter& writer) {
  for (const auto& [key, value] : reader.metadata()) writer.set_metadata(key, value);
  for (std::size_t i = 0; i < reader.size(); ++i) {
    const std::string name(reader.name(i));
    const SafetensorsInfo info = reader.info(name);
    if (info.dtype == "I64")
      writer.add_i64(name, info.shape, reader.read_i64(name));
    else if (info.dtype == "BOOL")
      writer.add_bool(name, info.shape, reader.read_bool(name));
    else
      writer.add(name, reader.read(name));
  }
}

TEST_F(SafetensorsWrite, WhatWasSavedLoadsWithTheSameBits) {
  sample().save(file());
  const SafetensorsReader reader(file());
  ASSERT_EQ(reader.size(), 6u);
  EXPECT_SAME_BITS(reader.read("w").values<float>(), normal_tensor({3, 5}, 1).values<float>());
  EXPECT_EQ(reader.info("w").shape, (Shape{3, 5}));
  EXPECT_NEAR_ALL(reader.read("double"), normal_tensor({4}, 3, DType::f64), exact());
  EXPECT_EQ(reader.read_i64("ids"), (std::vector<std::int64_t>{1, -1, std::numeric_limits<std::int64_t>::min(), 7}));
  EXPECT_EQ(reader.read_bool("mask"), (std::vector<std::uint8_t>{1, 0, 1}));
  EXPECT_EQ(reader.read("a \"quoted\" \\ \xe2\x82\xac").shape(), Shape{});
  EXPECT_EQ(reader.info("none").shape, (Shape{0, 7}));
  EXPECT_EQ(reader.metadata("note"), "tab\tline\nquote\"");
}

TEST_F(SafetensorsWrite, AWriterOrReaderThatWasMovedFromSaysSoAndCanBeGivenAnother) {
  SafetensorsWriter writer = sample();
  const SafetensorsWriter holder = std::move(writer);
  const auto refused = [](auto&& use, const std::string& what) { return throws_saying<UsageError>(use, {what, "moved from"}); };
  EXPECT_TRUE(refused([&] { writer.add("w", Tensor({2})); }, "SafetensorsWriter"));
  EXPECT_TRUE(refused([&] { writer.add_i64("i", {0}, {}); }, "SafetensorsWriter"));
  EXPECT_TRUE(refused([&] { writer.add_bool("b", {0}, {}); }, "SafetensorsWriter"));
  EXPECT_TRUE(refused([&] { writer.set_metadata("key", "value"); }, "SafetensorsWriter"));
  EXPECT_TRUE(refused([&] { writer.save(file()); }, "SafetensorsWriter"));
  EXPECT_FALSE(std::filesystem::exists(file()));
  holder.save(file());

  SafetensorsReader reader(file());
  SafetensorsReader other = std::move(reader);
  EXPECT_TRUE(refused([&] { reader.size(); }, "SafetensorsReader"));
  EXPECT_TRUE(refused([&] { reader.name(0); }, "SafetensorsReader"));
  EXPECT_TRUE(refused([&] { reader.contains("w"); }, "SafetensorsReader"));
  EXPECT_TRUE(refused([&] { reader.info("w"); }, "SafetensorsReader"));
  EXPECT_TRUE(refused([&] { reader.metadata("format"); }, "SafetensorsReader"));
  EXPECT_TRUE(refused([&] { reader.metadata(); }, "SafetensorsReader"));
  EXPECT_TRUE(refused([&] { reader.read("w"); }, "SafetensorsReader"));
  EXPECT_TRUE(refused([&] { reader.read_i64("ids"); }, "SafetensorsReader"));
  EXPECT_TRUE(refused([&] { reader.read_bool("mask"); }, "SafetensorsReader"));
  EXPECT_TRUE(refused([&] { reader.count_values("w"); }, "SafetensorsReader"));
  reader = std::move(other);
  EXPECT_EQ(reader.size(), 6u);
}

TEST_F(SafetensorsWrite, SavingWhatWasLoadedGivesTheSameFile) {
  sample().save(file());
  SafetensorsWriter again;
  copy_all(SafetensorsReader(file()), again);
  again.save(folder_.path() / "again");
  EXPECT_EQ(read_file(folder_.path() / "again"), read_file(file()));
}

TEST_F(SafetensorsWrite, StartsTheDataAlignedAndPutsWideTypesFirst) {
  sample().save(file());
  const std::string bytes = read_file(file());
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(bytes[8], '{');
  const SafetensorsReader reader(file());
  EXPECT_EQ(reader.name(0), "ids");
  EXPECT_EQ(reader.name(1), "double");
  EXPECT_EQ(reader.name(2), "w");
  EXPECT_EQ(reader.name(5), "mask");
}

TEST_F(SafetensorsWrite, AFileWithoutTensorsIsFine) {
  SafetensorsWriter().save(file());
  EXPECT_EQ(read_file(file()), framed("{}      "));
}

TEST_F(SafetensorsWrite, ST44_RefusesBadNames) {
  SafetensorsWriter writer;
  const Tensor t({1});
  writer.add("a", t);
  EXPECT_TRUE(throws_saying<UsageError>([&] { writer.add("a", t); }, {"'a'", "twice"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { writer.add("__metadata__", t); }, {"__metadata__"}));
  for (const std::string& bad : {std::string("x\ny"), std::string("x\0y", 3), std::string("\x1b[2J"), std::string("\x7f")})
    EXPECT_TRUE(throws_saying<UsageError>([&] { writer.add(bad, t); }, {"control characters"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { writer.add("w\xff", t); }, {"tensor 'w\\xff'", "UTF-8"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { writer.set_metadata("k", "\xc0\x80"); }, {"metadata key 'k'", "value", "UTF-8"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { writer.set_metadata("k\x80", "v"); }, {"metadata key 'k\\x80'", "UTF-8"}));
}

TEST_F(SafetensorsWrite, MessagesShowNamesAsTextAndBytesThatAreNoneInHexadecimal) {
  using safetensors::in_quotes;
  const std::string euro = "\xe2\x82\xac";
  EXPECT_EQ(in_quotes("blocks.3/w \"q\""), "'blocks.3/w \"q\"'");
  EXPECT_EQ(in_quotes(concat("\xc3\xa4", euro, "\xf0\x9f\x98\x80")), concat("'\xc3\xa4", euro, "\xf0\x9f\x98\x80'"));
  EXPECT_EQ(in_quotes("a\nb\x7f"), "'a\\nb\\x7f'");
  // A stray continuation, a cut character, overlong forms, a surrogate, beyond the last code point, bytes UTF-8 never uses.
  EXPECT_EQ(in_quotes("\x1b[31m\u009b\u202e"), "'\\x1b[31m\\u009b\\u202e'");
  EXPECT_EQ(in_quotes("a\x80z"), "'a\\x80z'");
  EXPECT_EQ(in_quotes("\xe2\x82"), "'\\xe2\\x82'");
  EXPECT_EQ(in_quotes("\xc0\x80"), "'\\xc0\\x80'");
  EXPECT_EQ(in_quotes("\xe0\x9f\xbf"), "'\\xe0\\x9f\\xbf'");
  EXPECT_EQ(in_quotes("\xed\xa0\x80"), "'\\xed\\xa0\\x80'");
  EXPECT_EQ(in_quotes("\xf0\x8f\xbf\xbf"), "'\\xf0\\x8f\\xbf\\xbf'");
  EXPECT_EQ(in_quotes("\xf4\x90\x80\x80"), "'\\xf4\\x90\\x80\\x80'");
  EXPECT_EQ(in_quotes("\xff\xfe"), "'\\xff\\xfe'");
  // Cut after 60 bytes, never inside a character.
  EXPECT_EQ(in_quotes(concat(std::string(59, 'n'), euro)), concat("'", std::string(59, 'n'), "...' (62 bytes)"));
  EXPECT_EQ(in_quotes(std::string(60, 'n')), concat("'", std::string(60, 'n'), "'"));
  EXPECT_EQ(in_quotes(std::string(100, '\x80')).substr(0, 9), "'\\x80\\x80");
}

TEST_F(SafetensorsWrite, ST44_RefusesValuesThatDoNotFitTheShape) {
  SafetensorsWriter writer;
  EXPECT_TRUE(throws_saying<UsageError>([&] { writer.add("u", Tensor()); }, {"'u'", "undefined"}));
  EXPECT_TRUE(
      throws_saying<UsageError>([&] { writer.add_i64("i", {3}, std::vector<std::int64_t>{1}); }, {"'i'", "1 values", "[3]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { writer.add_bool("b", {1}, std::vector<std::uint8_t>{2}); }, {"'b'", "2"}));
}

TEST_F(SafetensorsWrite, ReplacesAFileAndKeepsItsPermissions) {
  write_file(file(), "old");
  chmod(file().c_str(), 0640);
  sample().save(file());
  EXPECT_EQ(SafetensorsReader(file()).size(), 6u);
  struct stat status {};
  stat(file().c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777u, 0640u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1) << "a temporary file was left";
}

// The limit on the size of files stands in for a full disk.
TEST_F(SafetensorsWrite, AFailureLeavesTheOldFileAndNothingElse) {
  write_file(file(), "old");
  SafetensorsWriter writer;
  writer.add("w", Tensor::zeros({100'000}));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{100'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto result = throws_saying<DataError>([&] { writer.save(file()); }, {file().native(), "too large", "unchanged"});
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(result);
  EXPECT_EQ(read_file(file()), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1) << "a temporary file was left";
}

TEST_F(SafetensorsWrite, RefusesPathsThatCannotBeAFile) {
  const SafetensorsWriter writer = sample();
  EXPECT_TRUE(throws_saying<UsageError>([&] { writer.save(folder_.path()); }, {"a directory"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { writer.save("/dev/null"); }, {"a device"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { writer.save(""); }, {"empty"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { writer.save(std::string("a\0b", 3)); }, {"NUL"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { writer.save(folder_.path() / "new/"); }, {"names a folder"}));
  EXPECT_TRUE(throws_saying<DataError>([&] { writer.save(folder_.path() / "absent" / "model"); }, {"No such file"}));
}

TEST_F(SafetensorsWrite, AnInterruptedReplacementIsAsIfItNeverBegan) {
  write_file(file(), "old");
  {
    ReplacementFile replacement(file());
    replacement.write("new", 3);
  }
  EXPECT_EQ(read_file(file()), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(SafetensorsWrite, WritesAFileInTheCurrentFolder) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  sample().save("model.safetensors");
  std::filesystem::current_path(before);
  EXPECT_EQ(SafetensorsReader(file()).size(), 6u);
}

// The reference implementation reads what we wrote, writes it again in its own way, and both files say the same.
TEST_F(SafetensorsWrite, ThePythonLibraryReadsItAndWritesTheSame) {
  const char* python = std::getenv("ADDNORM_PEERS_PYTHON");
  if (python == nullptr) GTEST_SKIP() << "skipped: run scripts/peers";
  sample().save(file());
  write_file(folder_.path() / "copy.py",
             "import sys, json\n"
             "from safetensors import safe_open\n"
             "from safetensors.numpy import save_file\n"
             "with safe_open(sys.argv[1], framework='np') as f:\n"
             "  save_file({k: f.get_tensor(k) for k in f.keys()}, sys.argv[2], metadata=f.metadata())\n");
  const auto theirs = folder_.path() / "theirs";
  const std::string command =
      concat("'", python, "' '", (folder_.path() / "copy.py").native(), "' '", file().native(), "' '", theirs.native(), "'");
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  const SafetensorsReader ours_again(file()), reader(theirs);
  ASSERT_EQ(reader.size(), ours_again.size());
  EXPECT_EQ(reader.metadata(), ours_again.metadata());
  for (std::size_t i = 0; i < reader.size(); ++i) {
    const std::string name(reader.name(i));
    ASSERT_EQ(reader.info(name).dtype, ours_again.info(name).dtype) << name;
    ASSERT_EQ(reader.info(name).shape, ours_again.info(name).shape) << name;
    if (reader.info(name).dtype == "I64")
      EXPECT_EQ(reader.read_i64(name), ours_again.read_i64(name));
    else if (reader.info(name).dtype == "BOOL")
      EXPECT_EQ(reader.read_bool(name), ours_again.read_bool(name));
    else
      EXPECT_NEAR_ALL(reader.read(name), ours_again.read(name), exact());
  }
}

}  // namespace
}  // namespace addnorm::test
