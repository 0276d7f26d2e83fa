// Checkpoints that come back bit for bit, or are refused by name; and the lock of a run.
#include "addnorm/train/checkpoint.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <memory>
#include <set>

#include "addnorm/tensor/safetensors.h"
#include "core/checksum.h"
#include "core/file.h"
#include "support/folder.h"
#include "support/streams/snapshots.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::entries;
using test::same;
using test::snapshot_of;
using test::text_of;
using test::throws_saying;
using test::write_text;

class Checkpoint : public testing::Test {
 protected:
  static fs::path name(std::int64_t step) {
    const std::string digits = std::to_string(step);
    return concat("step-", std::string(8 - digits.size(), '0'), digits, ".safetensors");
  }
  fs::path file(std::int64_t step) const { return checkpoints / name(step); }
  std::vector<fs::path> names() const {
    std::vector<fs::path> all;
    for (const fs::path& path : folder.files()) all.push_back(path.filename());
    return all;
  }
  std::optional<Snapshot> newest() {
    broken.clear();
    return folder.newest([&](const std::string& message) { broken.push_back(message); });
  }
  void damage(std::int64_t step) const { test::flip_bit(file(step), 8 * fs::file_size(file(step)) - 1); }

  test::TemporaryFolder run;
  fs::path checkpoints = run.path / "checkpoints";
  CheckpointFolder folder{checkpoints};
  std::vector<std::string> broken;
};

TEST_F(Checkpoint, ComesBackBitForBit) {
  EXPECT_FALSE(newest());
  EXPECT_TRUE(folder.files().empty());
  Snapshot snapshot = snapshot_of(40);
  snapshot.tensors[0].second.data<float>()[3] = -0.0F;
  folder.save(snapshot);
  const auto back = newest();
  ASSERT_TRUE(back);
  EXPECT_TRUE(same(*back, snapshot));
  EXPECT_TRUE(broken.empty());
  EXPECT_EQ(names(), std::vector<fs::path>{"step-00000040.safetensors"});
  EXPECT_EQ(entries(checkpoints), 1u);
}

TEST_F(Checkpoint, OfTheSameSnapshotHasTheSameBytes) {
  folder.save(snapshot_of(1));
  const std::string first = text_of(file(1));
  folder.save(snapshot_of(1));
  EXPECT_EQ(text_of(file(1)), first);
}

TEST_F(Checkpoint, KeepsAsManyAsAskedFor) {
  CheckpointFolder three(checkpoints, 3);
  for (const std::int64_t step : {0, 5, 10, 99'999'990}) three.save(snapshot_of(step));
  EXPECT_EQ(names(), (std::vector<fs::path>{name(5), name(10), name(99'999'990)}));
  three.save(snapshot_of(123'456'789));  // more digits than others: sorted as a number
  EXPECT_EQ(names().back(), "step-123456789.safetensors");
  EXPECT_EQ(newest()->step, 123'456'789);
  EXPECT_TRUE(throws_saying<UsageError>([&] { CheckpointFolder(checkpoints, 1); }, {"keep", "1", "at least 2"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { three.save(snapshot_of(-1)); }, {"step", "-1"}));
}

TEST_F(Checkpoint, NewestIsTheNewestThatVerifiesAndBrokenOnesAreNamedAndLeft) {
  for (const std::int64_t step : {1, 2}) folder.save(snapshot_of(step));
  damage(2);
  const auto found = newest();
  ASSERT_TRUE(found);
  EXPECT_TRUE(same(*found, snapshot_of(1)));
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_NE(broken[0].find(file(2).string()), std::string::npos);
  EXPECT_TRUE(fs::exists(file(2)));
  damage(1);
  EXPECT_FALSE(newest());
  EXPECT_EQ(broken.size(), 2u);
}

TEST_F(Checkpoint, K12PruningNeverRemovesTheOnlyGoodOneNorABrokenOne) {
  for (const std::int64_t step : {1, 2}) folder.save(snapshot_of(step));
  damage(2);
  folder.save(snapshot_of(3));  // 2 does not count: 1 stays
  EXPECT_EQ(names(), (std::vector<fs::path>{name(1), name(2), name(3)}));
  damage(3);
  EXPECT_EQ(newest()->step, 1);
  folder.save(snapshot_of(4));
  EXPECT_EQ(names(), (std::vector<fs::path>{name(1), name(2), name(3), name(4)}));
  CheckpointFolder(checkpoints).save(snapshot_of(5));  // as by a process that resumed: it has seen none of them verify
  EXPECT_EQ(names(), (std::vector<fs::path>{name(2), name(3), name(4), name(5)}));
}

TEST_F(Checkpoint, K06EveryFlippedBitIsFoundAndItsTensorNamed) {
  folder.save(snapshot_of(12, 40));
  const std::string good = text_of(file(12));
  std::uint64_t header = 0;
  std::memcpy(&header, good.data(), sizeof header);
  std::set<std::uint64_t> flipped;
  for (std::uint32_t i = 0; flipped.size() < 1000; ++i) {
    const std::uint64_t bit = random_word(6, 0, i) % (8 * good.size());
    if (!flipped.insert(bit).second) continue;
    test::flip_bit(file(12), bit);
    const bool in_data = bit / 8 >= 8 + header;
    const auto refused =
        throws_saying<DataError>([&] { CheckpointFolder::read(file(12)); }, {file(12).string(), in_data ? "tensor '" : ""});
    EXPECT_TRUE(refused) << "bit " << bit;
    test::flip_bit(file(12), bit);
  }
  EXPECT_TRUE(same(CheckpointFolder::read(file(12)), snapshot_of(12, 40)));
  test::flip_bit(file(12), 8 * (8 + header) + 3);
  EXPECT_TRUE(throws_saying<DataError>([&] { CheckpointFolder::read(file(12)); }, {"model.embedding.weight", "checksum"}));
}

TEST_F(Checkpoint, K07CutAnywhereIsRefused) {
  folder.save(snapshot_of(12));
  const std::string good = text_of(file(12));
  for (std::size_t i = 100; i-- > 0;) {
    fs::resize_file(file(12), i * good.size() / 100);
    EXPECT_TRUE(throws_saying<DataError>([&] { CheckpointFolder::read(file(12)); }, {file(12).string()})) << i;
  }
  write_text(file(12), good + "x");
  EXPECT_TRUE(throws_saying<DataError>([&] { CheckpointFolder::read(file(12)); }, {file(12).string()}));
}

TEST_F(Checkpoint, K07SwappedFilesAreRefusedAndCopiesUnderOtherNamesAreNot) {
  for (const std::int64_t step : {1, 2}) folder.save(snapshot_of(step));
  fs::rename(file(1), checkpoints / "x");
  fs::rename(file(2), file(1));
  fs::rename(checkpoints / "x", file(2));
  EXPECT_TRUE(throws_saying<DataError>([&] { CheckpointFolder::read(file(1)); }, {"holds step 2", "name says 1"}));
  EXPECT_FALSE(newest());
  fs::copy(file(2), run.path / "mine.safetensors");
  EXPECT_TRUE(same(CheckpointFolder::read(run.path / "mine.safetensors"), snapshot_of(1)));
}

TEST_F(Checkpoint, K08OtherFormatsAreDistinguished) {
  const auto with_version = [&](const char* version) {
    SafetensorsWriter writer;
    if (*version != '\0') writer.set_metadata("addnorm.checkpoint", version);
    writer.set_metadata("addnorm.step", "3");
    writer.set_metadata("addnorm.record", "{}");
    writer.add("model.w", Tensor::zeros({2}));
    writer.add_checksums();
    fs::create_directories(checkpoints);
    writer.save(file(3));
    return [this] { CheckpointFolder::read(file(3)); };
  };
  EXPECT_NO_THROW(with_version("1")());
  EXPECT_TRUE(throws_saying<DataError>(with_version("2"), {file(3).string(), "format 2", "reads format 1", "newer"}));
  EXPECT_TRUE(throws_saying<DataError>(with_version("0"), {"format 0", "older"}));
  EXPECT_TRUE(throws_saying<DataError>(with_version("one"), {"'one'", "damaged"}));
  EXPECT_TRUE(throws_saying<DataError>(with_version(""), {"no checkpoint of addnorm"}));
  SafetensorsWriter plain;
  plain.set_metadata("addnorm.checkpoint", "1");
  plain.save(file(3));
  EXPECT_TRUE(throws_saying<DataError>([&] { CheckpointFolder::read(file(3)); }, {"no checksums"}));
}

TEST_F(Checkpoint, IgnoresNamesThatAreNotItsOwn) {
  folder.save(snapshot_of(1));
  for (const char* other : {"step-1.safetensors", "step-00000002.safetensors.tmp.1", "step-.safetensors",
                            "step--0000001.safetensors", "best.safetensors", "step-99999999999999999999.safetensors"})
    write_text(checkpoints / other, "");
  EXPECT_EQ(names(), std::vector<fs::path>{name(1)});
}

TEST_F(Checkpoint, K05OfARemovedFolderMakesItAnew) {
  folder.save(snapshot_of(1));
  fs::remove_all(run.path);
  folder.save(snapshot_of(2));
  EXPECT_EQ(newest()->step, 2);
  fs::remove_all(checkpoints);
  fs::create_directory(checkpoints);  // by somebody else
  folder.save(snapshot_of(3));
  EXPECT_EQ(newest()->step, 3);
}

TEST_F(Checkpoint, K05OfAFolderThatBecameAFileIsRefusedAndGoesOnWhenItIsBack) {
  folder.save(snapshot_of(1));
  fs::rename(checkpoints, run.path / "away");
  write_text(checkpoints, "no folder");
  EXPECT_TRUE(throws_saying<DataError>([&] { folder.save(snapshot_of(2)); }, {checkpoints.string(), "folder is needed"}));
  EXPECT_EQ(text_of(checkpoints), "no folder");
  fs::remove(checkpoints);
  fs::rename(run.path / "away", checkpoints);
  folder.save(snapshot_of(2));
  EXPECT_EQ(names(), (std::vector<fs::path>{name(1), name(2)}));
}

TEST_F(Checkpoint, K05AFolderWhoseLinkWasTurnedToAnotherRunKeepsThatRunsCheckpoints) {
  fs::create_directories(run.path / "ours");
  fs::create_directory_symlink("ours", checkpoints);
  for (const std::int64_t step : {1, 2}) folder.save(snapshot_of(step));
  CheckpointFolder theirs(run.path / "theirs");
  for (const std::int64_t step : {3, 4}) theirs.save(snapshot_of(step));
  fs::remove(checkpoints);
  fs::create_directory_symlink("theirs", checkpoints);
  EXPECT_TRUE(throws_saying<DataError>([&] { folder.save(snapshot_of(5)); }, {checkpoints.string(), "another folder"}));
  EXPECT_EQ(theirs.files().size(), 2u);
  fs::remove(checkpoints);
  fs::create_directory_symlink("ours", checkpoints);
  folder.save(snapshot_of(5));
  EXPECT_EQ(names(), (std::vector<fs::path>{name(2), name(5)}));
}

// The lock.

TEST_F(Checkpoint, K11ASecondLockIsRefusedWithTheProcessThatHasTheFirst) {
  std::array<char, 256> host{};
  ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
  {
    const RunLock lock(run.path);
    EXPECT_TRUE(throws_saying<Error>([&] { RunLock second(run.path); }, {run.path.string(), concat("process ", getpid()),
                                                                         host.data(), "this one", "use another folder"}));
  }
  const RunLock again(run.path);
}

/// The exit code of a forked child that runs `body`.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Checkpoint, K11AnotherProcessIsRefusedAndTheLockDiesWithItsProcess) {
  std::array<int, 2> ready{}, done{};
  ASSERT_EQ(pipe(ready.data()), 0);
  ASSERT_EQ(pipe(done.data()), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const RunLock lock(run.path);
    char c = 'x';
    static_cast<void>(!write(ready[1], &c, 1));
    static_cast<void>(!read(done[0], &c, 1));  // for ever
    _exit(0);
  }
  char c = 0;
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  EXPECT_TRUE(throws_saying<Error>([&] { RunLock lock(run.path); }, {concat("process ", holder)}));
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  EXPECT_NO_THROW(RunLock lock(run.path));
  for (const int fd : {ready[0], ready[1], done[0], done[1]}) close(fd);
}

TEST_F(Checkpoint, K11AForkedChildNeitherHoldsNorGivesUpTheLock) {
  std::array<int, 2> done{};
  ASSERT_EQ(pipe(done.data()), 0);
  pid_t child = 0;
  {
    auto lock = std::make_unique<RunLock>(run.path);
    EXPECT_EQ(in_child([&] {
                lock.reset();  // must not unlock
                return 0;
              }),
              0);
    EXPECT_EQ(in_child([&] {
                try {
                  const RunLock second(run.path);
                } catch (const Error&) {
                  return 3;
                }
                return 0;
              }),
              3);
    child = fork();
    if (child == 0) {
      char c = 0;
      static_cast<void>(!read(done[0], &c, 1));
      _exit(0);
    }
  }
  EXPECT_NO_THROW(RunLock lock(run.path));  // though a child of the one before lives
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (const int fd : done) close(fd);
}

TEST_F(Checkpoint, TheLockRemovesWhatDeadProcessesLeftAndNothingElse) {
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  waitpid(dead, nullptr, 0);
  fs::create_directories(checkpoints);
  const fs::path gone[] = {checkpoints / concat("step-00000001.safetensors.tmp.", dead),
                           run.path / concat("run.json.tmp.", dead, "-2"), run.path / concat("run.json.tmp.", getpid())};
  const fs::path stays[] = {run.path / "notes.tmp", run.path / "x.tmp.abc", run.path / concat("x.tmp.", dead, "x"),
                            run.path / concat("x.tmp.", getppid())};
  for (const fs::path& path : gone) write_text(path, "half");
  for (const fs::path& path : stays) write_text(path, "theirs");
  const RunLock lock(run.path);
  for (const fs::path& path : gone) EXPECT_FALSE(fs::exists(path)) << path;
  for (const fs::path& path : stays) EXPECT_TRUE(fs::exists(path)) << path;
}

// The checksum.

TEST(Checksum, IsTheSameInAnyPieces) {
  std::string bytes(1000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(random_word(2, 0, static_cast<std::uint32_t>(i)));
  for (std::size_t size : {0u, 1u, 7u, 8u, 63u, 64u, 65u, 127u, 512u, 1000u})
    for (std::size_t piece : {1u, 3u, 8u, 64u, 100u}) {
      Checksum sum;
      for (std::size_t first = 0; first < size; first += piece) sum.add(bytes.data() + first, std::min(piece, size - first));
      EXPECT_EQ(sum.value(), checksum(bytes.data(), size)) << size << " in pieces of " << piece;
    }
}

TEST(Checksum, IsWhatTheDocumentsDefine) {  // by the definition in Python integers
  EXPECT_EQ(as_hex(checksum("", 0)), "f16c9faecc0855fb");
  EXPECT_EQ(as_hex(checksum("abc", 3)), "961e44c1dacec1f7");
  std::string bytes(200, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
  EXPECT_EQ(as_hex(checksum(bytes.data(), bytes.size())), "e55ac6c7030aa221");
}

TEST(Checksum, DistinguishesLengthsOfZerosAndSwappedWords) {
  const std::string zeros(300, '\0');
  std::set<std::uint64_t> seen;
  for (std::size_t size = 0; size <= zeros.size(); ++size) seen.insert(checksum(zeros.data(), size));
  EXPECT_EQ(seen.size(), zeros.size() + 1);
  std::string words(128, 'a');
  words[0] = 'b';
  for (std::size_t at = 0; at < words.size(); at += 8) {
    std::string moved(128, 'a');
    moved[at] = 'b';
    EXPECT_EQ(checksum(moved.data(), moved.size()) == checksum(words.data(), words.size()), at == 0) << at;
  }
}

}  // namespace
}  // namespace addnorm
