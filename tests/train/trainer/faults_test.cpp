// Saving on a disk that fails, and in processes that are killed: what was saved stays saved.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>

#include "addnorm/train/checkpoint.h"
#include "addnorm/train/run_folder.h"
#include "support/faults/failing_new.h"
#include "support/faults/faulty_disk.h"
#include "support/folder.h"
#include "support/streams/snapshots.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::Call;
using test::DiskState;
using test::FaultyDisk;
using test::same;
using test::snapshot_of;
using test::text_of;
using test::Unsynced;
using test::write_text;

std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::directory_iterator(folder)) all[entry.path().filename()] = text_of(entry.path());
  return all;
}

/// Saves `last` times on a disk that syncs what it is asked to, and gives what it held at each moment.
std::vector<DiskState> moments_of_saving(std::int64_t last, bool sync_files, bool sync_folders) {
  const test::TemporaryFolder folder;
  FaultyDisk disk(folder.path);
  disk.ignore_file_sync = !sync_files;
  disk.ignore_folder_sync = !sync_folders;
  CheckpointFolder checkpoints(folder.path);
  for (std::int64_t step = 1; step <= last; ++step) {
    checkpoints.save(snapshot_of(step));
    disk.now.promised = step;
  }
  disk.moments.push_back(disk.now);
  return disk.moments;
}

/// The step that a run with these files resumes from; 0: none.
std::int64_t resumed_from(const std::map<std::string, std::string>& files) {
  const test::TemporaryFolder crashed;
  for (const auto& [name, bytes] : files) write_text(crashed.path / name, bytes);
  const auto found = CheckpointFolder(crashed.path).newest(nullptr);
  EXPECT_TRUE(!found || same(*found, snapshot_of(found->step)));
  return found ? found->step : 0;
}

/// How many of all possible power failures lose what was promised.
std::size_t lost_promises(const std::vector<DiskState>& moments) {
  std::map<std::map<std::string, std::string>, std::int64_t> seen;  // most look like others
  std::size_t lost = 0;
  for (const DiskState& state : moments)
    for (std::uint64_t chosen = 0; chosen < std::uint64_t{1} << std::min<std::size_t>(state.changes.size(), 6); ++chosen)
      for (const Unsynced unsynced : {Unsynced::lost, Unsynced::kept, Unsynced::zeros, Unsynced::half}) {
        const auto files = test::after_power_failure(state, chosen, unsynced);
        const auto [at, fresh] = seen.try_emplace(files, 0);
        if (fresh) at->second = resumed_from(files);
        lost += at->second < state.promised;
      }
  return lost;
}

TEST(PowerFailure, K02LosesNothingThatWasSaved) {
  const auto moments = moments_of_saving(4, true, true);
  EXPECT_GT(moments.size(), 4u * 12);
  EXPECT_EQ(lost_promises(moments), 0u);
}

TEST(PowerFailure, K02LosesCheckpointsWhereFilesAreNotSynced) {  // what the test above can see
  EXPECT_GT(lost_promises(moments_of_saving(4, false, true)), 0u);
}

TEST(PowerFailure, K02LosesCheckpointsWhereFoldersAreNotSynced) {
  EXPECT_GT(lost_promises(moments_of_saving(4, true, false)), 0u);
}

TEST(PowerFailure, FindsTheFolderThatTheFirstSaveMade) {
  const test::TemporaryFolder run;
  FaultyDisk disk(run.path);
  CheckpointFolder(run.path / "checkpoints").save(snapshot_of(1));
  const std::string made = "mkdir " + (run.path / "checkpoints").string(), synced = "fsync " + run.path.string();
  const auto making = std::ranges::find(disk.log, made);
  ASSERT_NE(making, disk.log.end());
  EXPECT_NE(std::find(making, disk.log.end(), synced), disk.log.end());
}

// Faults of the system.

struct Fault {
  Call call;
  int error;
};
constexpr Fault kFaults[] = {{Call::open, EMFILE},  {Call::open, EROFS},   {Call::open, ENOSPC},  {Call::open, EDQUOT},
                             {Call::write, ENOSPC}, {Call::write, EIO},    {Call::write, EDQUOT}, {Call::pread, EIO},
                             {Call::fsync, EIO},    {Call::fsync, ENOSPC}, {Call::fsync, EDQUOT}, {Call::close, EIO},
                             {Call::rename, EIO},   {Call::rename, EROFS}, {Call::unlink, EROFS}};

class Faults : public testing::Test {
 protected:
  Faults() {
    for (const std::int64_t step : {1, 2}) checkpoints.save(snapshot_of(step));
    before = contents(folder.path);
  }
  /// Saves step 3; the message when that fails.
  std::string saving() {
    Snapshot snapshot = snapshot_of(3);
    std::string message;
    try {
      checkpoints.save(snapshot);
    } catch (const DataError& error) {
      message = error.what();
      EXPECT_FALSE(message.empty());
    }
    EXPECT_TRUE(same(snapshot, snapshot_of(3)));
    return message;
  }
  void expect_old_ones_and_no_rest() const {
    for (const auto& [name, bytes] : contents(folder.path)) {
      EXPECT_EQ(name.find(".tmp"), std::string::npos) << name;
      EXPECT_TRUE(!before.contains(name) || bytes == before.at(name)) << name;
    }
    for (const auto& [name, bytes] : before) EXPECT_TRUE(fs::exists(folder.path / name)) << name;
  }
  void forget_step_3() {
    fs::remove(folder.path / "step-00000003.safetensors");
    for (const auto& [name, bytes] : before)
      if (!fs::exists(folder.path / name)) write_text(folder.path / name, bytes);
  }

  test::TemporaryFolder folder;
  CheckpointFolder checkpoints{folder.path, 3};
  std::map<std::string, std::string> before;
};

TEST_F(Faults, K03AtAnyCallLeaveTheOldCheckpointsAndNothingElseAndNameFileAndReason) {
  for (const auto& [call, error] : kFaults) {
    int failures = 0, number = 0;
    for (bool failed = true; failed; ++number) {
      SCOPED_TRACE(concat(name_of(call), " ", number, ": ", strerror(error)));
      std::string message;
      {
        FaultyDisk disk(folder.path);
        disk.fail(call, number, error);
        message = saving();
        failed = disk.failed();
      }
      expect_old_ones_and_no_rest();
      if (!failed) {
        EXPECT_EQ(message, "");
      } else if (!message.empty()) {
        ++failures;
        EXPECT_NE(message.find(folder.path.string()), std::string::npos) << message;
        EXPECT_NE(message.find(strerror(error)), std::string::npos) << message;
        EXPECT_EQ(saving(), "");  // the next try works
      }
      EXPECT_EQ(checkpoints.newest(nullptr)->step, 3);
      forget_step_3();
    }
    const int least = call == Call::unlink ? 0 : call == Call::write ? 5 : 1;  // writes: length, header, three tensors
    EXPECT_GE(failures, least) << name_of(call);
  }
}

TEST_F(Faults, K03ADiskThatFillsInTheMiddleOfAWriteIsAFailedSave) {
  for (int number = 0;; ++number) {
    FaultyDisk disk(folder.path);
    disk.write_at_most = 100;
    disk.fail(Call::write, number, ENOSPC);
    const std::string message = saving();
    if (!disk.failed()) break;
    EXPECT_NE(message.find(strerror(ENOSPC)), std::string::npos) << number;
    expect_old_ones_and_no_rest();
  }
}

TEST_F(Faults, K03ShortWritesAndSignalsChangeNothing) {
  ASSERT_EQ(saving(), "");
  const std::string want = text_of(folder.path / "step-00000003.safetensors");
  forget_step_3();
  FaultyDisk disk(folder.path);
  disk.write_at_most = 7;
  disk.interrupt = true;
  EXPECT_EQ(saving(), "");
  EXPECT_EQ(text_of(folder.path / "step-00000003.safetensors"), want);
  EXPECT_TRUE(same(*checkpoints.newest(nullptr), snapshot_of(3)));
}

TEST_F(Faults, K04AFileThatCannotBeSyncedIsAFailedSave) {
  FaultyDisk disk(folder.path);
  disk.fail(Call::fsync, 0, EIO);
  EXPECT_NE(saving().find("unchanged"), std::string::npos);
  EXPECT_EQ(contents(folder.path), before);
}

TEST_F(Faults, K04AFolderThatCannotBeSyncedIsAFailedSaveAfterWhichNothingOlderIsRemoved) {
  CheckpointFolder two(folder.path, 2);
  FaultyDisk disk(folder.path);
  disk.fail(Call::fsync, 1, EIO);
  EXPECT_TRUE(test::throws_saying<DataError>([&] { two.save(snapshot_of(3)); }, {"step-00000003", "folder", "power failure"}));
  expect_old_ones_and_no_rest();
  EXPECT_EQ(two.newest(nullptr)->step, 3);
  two.save(snapshot_of(3));
  EXPECT_EQ(two.files().size(), 2u);
}

TEST_F(Faults, T09MetricsOnAFullDiskAreReportedOnceAndWrittenLater) {
  const RunFolder run{folder.path};
  std::vector<std::string> reported;
  MetricsLog log(run.metrics(), 0, [&](const std::string& message) { reported.push_back(message); });
  log.append(R"({"step": 1})");
  {
    FaultyDisk disk(folder.path);
    MetricsLog full(run.metrics(), 1, [&](const std::string& message) { reported.push_back(message); });
    disk.write_at_most = 5;
    for (int step = 2; step <= 4; ++step) {
      disk.fail(Call::write, 1, ENOSPC);  // after the first bytes of the line
      full.append(concat(R"({"step": )", step, "}"));
      EXPECT_EQ(text_of(run.metrics()), "{\"step\": 1}\n");  // no half lines
    }
    ASSERT_EQ(reported.size(), 1u);
    EXPECT_NE(reported[0].find(strerror(ENOSPC)), std::string::npos);
    full.append(R"({"step": 5})");
  }
  EXPECT_EQ(text_of(run.metrics()), "{\"step\": 1}\n{\"step\": 2}\n{\"step\": 3}\n{\"step\": 4}\n{\"step\": 5}\n");
}

// Memory that runs out.

class OutOfMemory : public Faults {
 protected:
  OutOfMemory() { test::skip_syncs = true; }
  ~OutOfMemory() override { test::skip_syncs = false; }
  static std::size_t open_files() { return test::entries("/proc/self/fd"); }
};

TEST_F(OutOfMemory, T07WhileSavingLeavesTheOldCheckpointsAndNothingElse) {
  const Snapshot snapshot = snapshot_of(3);
  const std::size_t open = open_files();
  const std::size_t allocations = test::with_every_allocation_failing<Error>([&] { checkpoints.save(snapshot); },
                                                                             [&] {
                                                                               expect_old_ones_and_no_rest();
                                                                               EXPECT_EQ(open_files(), open);
                                                                               forget_step_3();
                                                                             });
  EXPECT_GT(allocations, 50u);
  checkpoints.save(snapshot);
  EXPECT_TRUE(same(*checkpoints.newest(nullptr), snapshot));
}

TEST_F(OutOfMemory, T07WhileReadingIsNotTakenForABrokenFile) {
  const std::size_t open = open_files();
  std::optional<Snapshot> found;
  const auto broken = [](const std::string& message) { ADD_FAILURE() << message; };
  test::with_every_allocation_failing<Error>([&] { found = checkpoints.newest(broken); }, [&] { EXPECT_EQ(open_files(), open); });
  EXPECT_EQ(found->step, 2);
}

TEST_F(OutOfMemory, T07InTheLockAndTheMetricsLeavesThemWholeAndUnlocked) {
  const RunFolder run{folder.path / "run"};
  const std::size_t open = open_files();
  const auto body = [&] {
    const RunLock lock(run.path);
    MetricsLog log(run.metrics(), 3);
    log.append(R"({"step": 4})");
    log.sync();
  };
  const std::size_t allocations = test::with_every_allocation_failing<Error>(body, [&] {
    EXPECT_EQ(open_files(), open);
    EXPECT_NO_THROW(RunLock lock(run.path));
    const std::string text = text_of(run.metrics());
    EXPECT_TRUE(text.empty() || text == "{\"step\": 4}\n") << text;
    fs::remove(run.metrics());
  });
  EXPECT_GT(allocations, 10u);
}

TEST_F(OutOfMemory, T07InTheRecordOfTheRunLeavesTheOldOne) {
  const RunFolder run{folder.path / "run"};
  RunRecord record = new_run_record(R"({"layers": 2, "data": ["a.txt"], "lr": 0.001, "text": "\u00e9"})");
  write_run_record(run, record);
  const std::string old = text_of(run.record());
  record.begun = "later";
  RunRecord found;
  const auto body = [&] {
    write_run_record(run, record);
    found = read_run_record(run);
  };
  const std::size_t allocations = test::with_every_allocation_failing<Error>(body, [&] {
    const std::string text = text_of(run.record());
    EXPECT_TRUE(text == old || text.find("later") != std::string::npos) << text;
  });
  EXPECT_GT(allocations, 50u);
  EXPECT_EQ(found.options, record.options);
}

// Processes that are killed.

/// Saves for ever, from where the last one came to; `saved` is the last step of which it knows that it is on the disk.
[[noreturn]] void save_for_ever(const fs::path& run, std::atomic<std::int64_t>& saved) {
  const RunLock lock(run);
  CheckpointFolder checkpoints(run / "checkpoints");
  if (const auto begun = checkpoints.newest(nullptr)) saved = begun->step;
  for (;;) {
    checkpoints.save(snapshot_of(saved + 1, 500));
    ++saved;
  }
}

TEST(Killed, K01At200RandomMomentsLosesNothingThatWasSaved) {
  constexpr int kTimes = 200;
  const test::TemporaryFolder run;
  void* shared = mmap(nullptr, sizeof(std::atomic<std::int64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& saved = *new (shared) std::atomic<std::int64_t>(0);
  int in_the_middle = 0;
  for (std::uint32_t i = 0; i < kTimes; ++i) {
    const pid_t child = fork();
    if (child == 0) save_for_ever(run.path, saved);
    usleep(2000 + random_word(1, 0, i) % 12000);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;  // and not by an error of its own
    for (const auto& entry : fs::recursive_directory_iterator(run.path))
      in_the_middle += entry.path().string().find(".tmp.") != std::string::npos;
    const auto found =
        CheckpointFolder(run.path / "checkpoints").newest([](const std::string& broken) { ADD_FAILURE() << broken; });
    const std::int64_t step = found ? found->step : 0;
    EXPECT_TRUE(step == saved || step == saved + 1) << "step " << step << " after " << saved << " was saved";
    EXPECT_TRUE(!found || same(*found, snapshot_of(step, 500)));
  }
  EXPECT_GT(saved, 0);
  EXPECT_GT(in_the_middle, 0);  // some died while they wrote
  const RunLock lock(run.path);
  for (const auto& entry : fs::recursive_directory_iterator(run.path))
    EXPECT_EQ(entry.path().string().find(".tmp."), std::string::npos) << entry.path();
  munmap(shared, sizeof(std::atomic<std::int64_t>));
}

}  // namespace
}  // namespace addnorm
