// Runs that go on under other circumstances: threads, bad steps, clocks. The bits are those of a run that was never disturbed.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "addnorm/core/parallel.h"
#include "addnorm/train/run.h"
#include "addnorm/train/run_folder.h"
#include "support/folder.h"
#include "support/threads.h"

namespace {
std::atomic<long> clock_offset{0};  // seconds that the wall clock is wrong by
}

/// In place of the C library's, for everything in this program: a wall clock that jumps.
extern "C" int clock_gettime(clockid_t clock, timespec* now) {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  if (clock == CLOCK_REALTIME) now->tv_sec += clock_offset;
  return result;
}

namespace addnorm {
namespace {

namespace fs = std::filesystem;

/// Stops after some steps; does something before or within others.
struct Disturbance : RunObserver {
  bool go_on() override { return seen < most; }
  void on_plan(const RunPlan& plan) override { first = plan.first_step; }
  void on_gradients(std::int64_t step, Model& model) override {
    if (step != bad) return;
    for_each_parameter(model, [](Parameter& p) { p.value.grad().values<float>()[0] = std::numeric_limits<float>::quiet_NaN(); });
  }
  void on_step(const StepRecord& record) override {
    seen = record.step;
    losses.push_back(record.loss);
    skipped += record.outcome == StepOutcome::skipped;
    if (after_step) after_step(record.step);
  }
  std::int64_t most = 1 << 30, bad = -1, seen = 0, first = 0;
  int skipped = 0;
  std::vector<double> losses;
  std::function<void(std::int64_t)> after_step{};
};

struct Disturbed : testing::Test {
  RunRequest request(const std::string& name, bool resume, const std::string& more = "") const {
    const std::string text =
        R"({"layers": 2, "d_model": 32, "heads": 2, "seq_len": 24, "batch_size": 16, "eval_every": 5, "eval_samples": 8,
            "save_every": 6, "seed": 3, "dropout": 0.1, "steps": 14)" +
        more + "}";
    return {.folder = folder.path / name,
            .cache = folder.path / "cache",
            .given = run_options_from_json(text, "the test"),
            .resume = resume};
  }
  std::string weights(const std::string& name) const { return test::text_of(folder.path / name / "model.safetensors"); }
  test::TemporaryFolder folder;
};

// T-01, T-02, N-13 for a whole run: begun on one number of threads, gone on with on others.
TEST_F(Disturbed, T01OtherNumbersOfThreadsAfterEveryStopGiveTheSameBits) {
  const test::RestoreThreads restore;
  set_threads(1);
  Disturbance straight;
  train_run(request("whole", false), straight);
  std::vector<double> losses;
  std::int64_t done = 0;
  for (const auto& [threads, last] : {std::pair{8, 3}, {1, 8}, {7, 9}, {2, 1 << 30}}) {
    set_threads(threads);
    Disturbance part;
    part.most = last;
    train_run(request("parts", done > 0), part);
    EXPECT_EQ(part.first, done + 1);
    done = part.seen;
    losses.insert(losses.end(), part.losses.begin(), part.losses.end());
  }
  EXPECT_EQ(losses, straight.losses);
  EXPECT_TRUE(weights("parts") == weights("whole"));
  EXPECT_TRUE(test::text_of(folder.path / "parts/best/model.safetensors") ==
              test::text_of(folder.path / "whole/best/model.safetensors"));
}

// T-01: stopped right after a step that was skipped. Its batch is gone for good, its number too, and the guard knows of it.
TEST_F(Disturbed, T01AfterASkippedStepItGoesOnWithTheNextBatch) {
  const std::string skip = R"(, "on_nan": "skip")";
  Disturbance straight;
  straight.bad = 7;
  train_run(request("whole", false, skip), straight);
  ASSERT_EQ(straight.skipped, 1);
  Disturbance until, rest;
  until.bad = rest.bad = 7;
  until.most = 7;
  train_run(request("parts", false, skip), until);
  EXPECT_EQ(until.skipped, 1);
  train_run(request("parts", true, skip), rest);
  EXPECT_EQ(rest.first, 8);
  EXPECT_EQ(rest.skipped, 0);
  std::vector<double> losses = until.losses;
  losses.insert(losses.end(), rest.losses.begin(), rest.losses.end());
  EXPECT_EQ(losses, straight.losses);
  EXPECT_TRUE(weights("parts") == weights("whole"));
  Disturbance good;  // what the test can see: with that batch the run is another one
  train_run(request("good", false, skip), good);
  EXPECT_FALSE(weights("good") == weights("whole"));
}

/// The zone of this process as it was.
struct RestoreClock {
  ~RestoreClock() {
    clock_offset = 0;
    before.empty() ? unsetenv("TZ") : setenv("TZ", before.c_str(), 1);
    tzset();
  }
  std::string before = getenv("TZ") ? getenv("TZ") : "";
};

void live_in(const char* zone, long offset) {
  setenv("TZ", zone, 1);
  tzset();
  clock_offset = offset;
}

// T-09: clocks decide nothing. Text is compared by its bytes and not by its times, the order of checkpoints is that of their
// steps.
TEST_F(Disturbed, T09ClocksThatJumpAndOtherTimeZonesChangeNothing) {
  constexpr long kYear = 365 * 86400L;
  const RestoreClock restore;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the quick brown fox jumps over the lazy dog number " + std::to_string(i) + "\n";
  const fs::path file = folder.write("text.txt", text);
  const std::string data = ", \"data\": [\"" + file.string() + "\"]";
  Disturbance straight;
  train_run(request("whole", false, data), straight);

  live_in("Pacific/Kiritimati", 10 * kYear);
  const std::string ahead = std::to_string(1970 + (time(nullptr) + clock_offset) / kYear);
  Disturbance until;
  until.most = 8;
  until.after_step = [](std::int64_t step) {
    if (step == 4) live_in("America/Adak", -20 * kYear);
  };
  train_run(request("parts", false, data), until);
  const RunRecord begun = read_run_record({folder.path / "parts"});
  EXPECT_EQ(begun.begun.substr(0, 3), ahead.substr(0, 3)) << begun.begun;  // the clock did jump
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(24 * 9000));
  live_in("Asia/Kathmandu", -40 * kYear);
  Disturbance rest;
  rest.after_step = [](std::int64_t step) {
    if (step == 10) live_in("UTC", 30 * kYear);
  };
  train_run(request("parts", true, data), rest);
  EXPECT_EQ(rest.first, 9);
  EXPECT_TRUE(weights("parts") == weights("whole"));
  EXPECT_EQ(read_run_record({folder.path / "parts"}).begun, begun.begun);
  std::ifstream metrics(folder.path / "parts/metrics.jsonl");
  std::int64_t step = 0;
  for (std::string line; std::getline(metrics, line);) {
    if (line.find("validation") == std::string::npos) {
      EXPECT_EQ(std::stoll(line.substr(line.find(':') + 1)), ++step);
    }
    EXPECT_EQ(line.find("\"seconds\":-"), std::string::npos) << line;
  }
  EXPECT_EQ(step, 14);
}

}  // namespace
}  // namespace addnorm
