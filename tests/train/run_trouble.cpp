// Runs in trouble: bad steps, spikes, and a disk that does not take what is saved.
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "addnorm/train/checkpoint.h"
#include "train/runs.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::Runs;
using test::Watcher;

TEST_F(Runs, T04RollbackGoesOnAndMetricsHaveEachStepOnce) {
  struct Once : Watcher {
    void on_gradients(std::int64_t step, Model& model) override {
      if (step != 18 || done) return;
      done = true;
      for_each_parameter(model,
                         [](Parameter& p) { p.value.grad().values<float>()[0] = std::numeric_limits<float>::quiet_NaN(); });
    }
    bool done = false;
  } once;
  RunRequest back = request("a", "\"steps\": 20, \"on_nan\": \"rollback\"");
  back.given.options.save_every = 10;  // the measurement after step 15 is undone with it, and made again
  EXPECT_TRUE(train_run(back, once).finished);
  EXPECT_EQ(once.validations.size(), 5u);
  std::vector<int> times(21);
  int rollbacks = 0, measured = 0;
  for (const std::string& line : lines("a")) {
    measured += line.find("validation_loss") != std::string::npos;
    rollbacks += line.find("rolled_back_from") != std::string::npos;
    if (line.find("\"loss\"") != std::string::npos)
      times[static_cast<std::size_t>(std::stoi(line.substr(line.find(':') + 1)))] += 1;
  }
  EXPECT_EQ(rollbacks, 1);
  EXPECT_EQ(measured, 4);  // each once
  for (std::size_t step = 1; step <= 20; ++step) EXPECT_EQ(times[step], 1) << "step " << step;
}

TEST_F(Runs, ABadStepIsNotLostTheStateBeforeItIsSaved) {
  RunRequest wild = request("a", "\"steps\": 20, \"lr\": 1e30, \"clip_grad_norm\": 0, \"warmup_steps\": 0");
  const std::string message = refusal(wild);
  EXPECT_NE(message.find("step "), std::string::npos) << message;
  EXPECT_FALSE(CheckpointFolder(folder.path / "a/checkpoints").files().empty());
}

/// From step 6 to step `until` a file stands where checkpoints should go.
struct Blocked : Watcher {
  Blocked(fs::path run, std::int64_t last) : checkpoints(run / "checkpoints"), until(last) {}
  void on_step(const StepRecord& record) override {
    Watcher::on_step(record);
    if (record.step == 6) {
      fs::rename(checkpoints, checkpoints.string() + "-away");
      std::ofstream(checkpoints) << "not a folder";
    }
    if (record.step == until) {
      fs::remove(checkpoints);
      fs::rename(checkpoints.string() + "-away", checkpoints);
    }
  }
  fs::path checkpoints;
  std::int64_t until;
};

TEST_F(Runs, K03SavingThatFailsForAWhileIsToldAndTriedAgain) {
  Watcher straight;
  train_run(request("whole"), straight);
  Blocked blocked(folder.path / "a", 13);
  train_run(request("a"), blocked);
  EXPECT_GE(blocked.warnings.size(), 2u);
  EXPECT_EQ(blocked.losses, straight.losses);
  EXPECT_TRUE(weights("a") == weights("whole"));
}

TEST_F(Runs, K03SavingThatFailsForGoodEndsTheRunAndLeavesWhatThereWas) {
  Blocked blocked(folder.path / "a", -1);
  EXPECT_THROW(train_run(request("a"), blocked), DataError);
  EXPECT_LT(blocked.seen, 20);
  EXPECT_TRUE(fs::exists(folder.path / "a/checkpoints-away/step-00000005.safetensors"));
}

}  // namespace
}  // namespace addnorm
