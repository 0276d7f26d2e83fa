// Runs on a disk that fails, in folders that are taken away: they go on, or end with all that was saved.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "addnorm/core/version.h"
#include "addnorm/train/checkpoint.h"
#include "addnorm/train/run.h"
#include "addnorm/train/run_folder.h"
#include "support/faults/faulty_disk.h"
#include "support/sanitizer.h"
#include "train/run/runs.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::Call;
using test::FaultyDisk;

const char* const kTiny = R"({"layers": 1, "d_model": 8, "heads": 2, "seq_len": 8, "batch_size": 2, "steps": 6, "eval_every": 2,
                              "eval_samples": 2, "save_every": 2, "seed": 3})";

constexpr int kStride = test::kSanitized ? 5 : 1;  // of the calls that fail: sanitized, a run takes ten times as long

/// Does something after each step, and keeps what it hears.
struct Watcher : RunObserver {
  explicit Watcher(std::function<void(std::int64_t step)> what = nullptr) : after(std::move(what)) {}
  void on_step(const StepRecord& record) override {
    if (after) after(record.step);
  }
  void on_warning(const std::string& message) override { warnings += message + "\n"; }
  std::function<void(std::int64_t)> after;
  std::string warnings;
};

struct RunOnAFaultyDisk : test::Runs {
  RunOnAFaultyDisk() {
    test::skip_syncs = true;
    Watcher watcher;
    train_run(request("undisturbed"), watcher);
  }
  ~RunOnAFaultyDisk() override { test::skip_syncs = false; }
  RunRequest request(const std::string& name, bool resume = false) const {
    return {.folder = folder.path / name,
            .cache = folder.path / "cache",
            .given = run_options_from_json(kTiny, "the test"),
            .resume = resume,
            .pause = std::chrono::milliseconds(1)};
  }
  /// The steps that have a line of their own in metrics.jsonl, in order.
  std::string steps(const std::string& name) const {
    std::string all;
    for (const std::string& line : lines(name))
      if (line.find("\"loss\"") != std::string::npos) all += line.substr(line.find(':') + 1, 1);
    return all;
  }
  void expect_whole(const std::string& name) const {
    EXPECT_TRUE(weights(name) == weights("undisturbed"));
    EXPECT_EQ(steps(name), "123456");
    for (const auto& entry : fs::recursive_directory_iterator(folder.path / name))
      EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
  }
};

// K-03 for a whole run: any single call fails. Before the first step that may end it, with the reason; nothing is in the way of
// the next try then. Later it never does.
TEST_F(RunOnAFaultyDisk, K03AnySingleFaultIsReportedAndTheRunEndsAsItShould) {
  struct Fault {
    Call call;
    int error;
  };
  for (const auto& [call, error] :
       {Fault{Call::open, EMFILE}, Fault{Call::write, ENOSPC}, Fault{Call::pread, EIO}, Fault{Call::fsync, EIO},
        Fault{Call::close, EIO}, Fault{Call::rename, EDQUOT}, Fault{Call::unlink, EROFS}, Fault{Call::mkdir, ENOSPC}}) {
    int number = 0;
    for (bool failed = true; failed; number += kStride) {
      SCOPED_TRACE(concat(name_of(call), " ", number, ": ", strerror(error)));
      fs::remove_all(folder.path / "a");
      std::int64_t seen = 0;
      Watcher watcher([&](std::int64_t step) { seen = step; });
      RunRequest asked = request("a");
      asked.resume_or_start = true;
      try {
        FaultyDisk disk(folder.path / "a");
        disk.whole_tree = true;
        disk.fail(call, number, error);
        failed = true;
        EXPECT_TRUE(train_run(asked, watcher).finished);
        failed = disk.failed();
      } catch (const Error& caught) {
        EXPECT_EQ(seen, 0) << caught.what();
        EXPECT_NE(std::string(caught.what()).find(strerror(error)), std::string::npos) << caught.what();
        Watcher again;
        EXPECT_TRUE(train_run(asked, again).finished);
      }
      expect_whole("a");
      ASSERT_FALSE(HasFailure());
    }
    EXPECT_GT(number, kStride) << name_of(call) << " is never called";
  }
}

TEST_F(RunOnAFaultyDisk, K03T09ADiskThatIsFullForAWhileIsReportedAndTheRunGoesOn) {
  for (const int error : {ENOSPC, EROFS, EDQUOT}) {  // EROFS: K-05, made read-only in the middle
    SCOPED_TRACE(strerror(error));
    fs::remove_all(folder.path / "a");
    FaultyDisk disk(folder.path / "a");
    disk.whole_tree = true;
    Watcher watcher([&](std::int64_t step) { disk.every_change = step >= 1 && step < 5 ? error : 0; });
    EXPECT_TRUE(train_run(request("a"), watcher).finished);
    EXPECT_NE(watcher.warnings.find(strerror(error)), std::string::npos) << watcher.warnings;
    EXPECT_NE(watcher.warnings.find("metrics.jsonl"), std::string::npos) << watcher.warnings;
    EXPECT_NE(watcher.warnings.find("/best"), std::string::npos) << watcher.warnings;
    expect_whole("a");
  }
}

TEST_F(RunOnAFaultyDisk, K03ADiskThatStaysFullEndsTheRunWithWhatWasSaved) {
  {
    FaultyDisk disk(folder.path / "a");
    disk.whole_tree = true;
    Watcher watcher([&](std::int64_t step) { disk.every_change = step >= 3 ? ENOSPC : 0; });
    EXPECT_THROW(train_run(request("a"), watcher), DataError);
  }
  EXPECT_EQ(CheckpointFolder(folder.path / "a/checkpoints").newest(nullptr)->step, 2);
  Watcher rest;
  EXPECT_TRUE(train_run(request("a", true), rest).finished);
  expect_whole("a");
}

TEST_F(RunOnAFaultyDisk, WhatIsBestIsSavedLaterWhereItsFolderCannotBeMade) {
  Watcher watcher([&](std::int64_t step) {
    if (step == 1) std::ofstream(folder.path / "a/best") << "in the way";
    if (step == 3) fs::remove(folder.path / "a/best");
  });
  EXPECT_TRUE(train_run(request("a"), watcher).finished);
  EXPECT_NE(watcher.warnings.find("/best"), std::string::npos) << watcher.warnings;
  expect_whole("a");
}

TEST_F(RunOnAFaultyDisk, MetricsGoBackWhenTheDiskLetsThem) {
  const fs::path file = folder.path / "m" / "metrics.jsonl";
  fs::create_directories(file.parent_path());
  std::string reported;
  MetricsLog log(file, 0, [&](const std::string& message) { reported += message; });
  for (int step = 1; step <= 4; ++step) log.append(concat("{\"step\": ", step, "}"));
  {
    FaultyDisk disk(file.parent_path());
    disk.every_change = ENOSPC;
    log.append("{\"step\": 5}");
    log.go_back(2);
    log.append("{\"step\": 3, \"again\": true}");
    EXPECT_NE(reported.find(strerror(ENOSPC)), std::string::npos) << reported;
  }
  log.append("{\"step\": 4}");
  EXPECT_EQ(test::text_of(file), "{\"step\": 1}\n{\"step\": 2}\n{\"step\": 3, \"again\": true}\n{\"step\": 4}\n");
}

// Folders that are taken away.

TEST_F(RunOnAFaultyDisk, K05AFolderThatIsRemovedIsMadeAnewWithItsLockAndItsMetrics) {
  std::string second;
  Watcher watcher([&](std::int64_t step) {
    if (step == 3) fs::remove_all(folder.path / "a");
    if (step == 5) second = refusal(request("a", true));
  });
  EXPECT_TRUE(train_run(request("a"), watcher).finished);
  EXPECT_NE(watcher.warnings.find("removed or moved"), std::string::npos) << watcher.warnings;
  EXPECT_NE(second.find("in use by process"), std::string::npos) << second;
  EXPECT_TRUE(weights("a") == weights("undisturbed"));
  EXPECT_EQ(steps("a"), "56");
}

TEST_F(RunOnAFaultyDisk, K05ALockThatIsRemovedIsMadeAnewAndNothingElseChanges) {
  Watcher watcher([&](std::int64_t step) {
    if (step == 3) fs::remove(folder.path / "a/lock");
  });
  EXPECT_TRUE(train_run(request("a"), watcher).finished);
  expect_whole("a");
}

TEST_F(RunOnAFaultyDisk, K05AnotherRunInItsPlaceKeepsItsFiles) {
  Watcher other;
  RunRequest longer = request("other");
  longer.given.options.seed = 4;
  train_run(longer, other);
  const std::string best = test::text_of(folder.path / "other/best/model.safetensors");
  ASSERT_FALSE(best.empty());
  const std::string before = weights("other"), metrics = test::text_of(folder.path / "other/metrics.jsonl");
  Watcher watcher([&](std::int64_t step) {
    if (step != 3) return;
    fs::rename(folder.path / "a", folder.path / "a-away");
    fs::rename(folder.path / "other", folder.path / "a");
  });
  EXPECT_THROW(train_run(request("a"), watcher), DataError);
  EXPECT_NE(watcher.warnings.find("another run stands there"), std::string::npos) << watcher.warnings;
  EXPECT_TRUE(weights("a") == before);
  EXPECT_TRUE(test::text_of(folder.path / "a/best/model.safetensors") == best);
  EXPECT_EQ(test::text_of(folder.path / "a/metrics.jsonl"), metrics);
}

// What a run says when it goes on.

TEST_F(RunOnAFaultyDisk, K10ARunThatEndedBeforeItsFirstCheckpointIsNotResumed) {
  fs::remove_all(folder.path / "undisturbed/checkpoints");
  const std::string message = refusal(request("undisturbed", true));
  EXPECT_NE(message.find("no checkpoint to resume from"), std::string::npos) << message;
  EXPECT_NE(message.find("say resume_or_start"), std::string::npos) << message;
}

TEST_F(RunOnAFaultyDisk, K09WeightsWithoutCheckpointsAreNotReplacedByAFreshRun) {
  fs::remove_all(folder.path / "undisturbed/checkpoints");
  const std::string before = weights("undisturbed");
  RunRequest either = request("undisturbed");
  either.resume_or_start = true;
  const std::string message = refusal(either);
  EXPECT_NE(message.find("has weights and no checkpoint"), std::string::npos) << message;
  EXPECT_TRUE(weights("undisturbed") == before);
}

TEST_F(RunOnAFaultyDisk, K09ATextWithOtherCharactersIsOtherData) {
  const fs::path text = folder.write("text.txt", "the quick brown fox jumps over the lazy dog\n");
  RunRequest asked = request("a");
  asked.given = run_options_from_json(std::string(kTiny).insert(1, concat("\"data\": [\"", text.string(), "\"], ")), "the test");
  Watcher watcher;
  train_run(asked, watcher);
  folder.write("text.txt", "THE QUICK brown fox jumps over the lazy dog\n");
  asked.resume = true;
  const std::string message = refusal(asked);
  EXPECT_NE(message.find("the data is not what the run has learned from"), std::string::npos) << message;
}

TEST_F(RunOnAFaultyDisk, K11ARunThatLivesIsNamedBeforeAnythingElseIsSaidOfIt) {
  std::string fresh, resumed;
  Watcher watcher([&](std::int64_t step) {
    if (step != 1) return;  // no checkpoint yet
    fresh = refusal(request("a"));
    resumed = refusal(request("a", true));
  });
  EXPECT_TRUE(train_run(request("a"), watcher).finished);
  EXPECT_NE(fresh.find("in use by process"), std::string::npos) << fresh;
  EXPECT_NE(resumed.find("in use by process"), std::string::npos) << resumed;
}

TEST_F(RunOnAFaultyDisk, ACheckpointOfAnotherVersionIsReported) {
  CheckpointFolder checkpoints(folder.path / "undisturbed/checkpoints");
  Snapshot last = *checkpoints.newest(nullptr);
  const std::string now = concat("\"version\":\"", version(), "\"");
  const std::size_t at = last.record.find(now);
  ASSERT_NE(at, std::string::npos) << last.record;
  last.record.replace(at, now.size(), "\"version\":\"0.0.1\"");
  checkpoints.save(last);
  Watcher watcher;
  RunRequest more = request("undisturbed", true);
  EXPECT_TRUE(train_run(more, watcher).finished);
  EXPECT_NE(watcher.warnings.find("0.0.1"), std::string::npos) << watcher.warnings;
}

}  // namespace
}  // namespace addnorm
