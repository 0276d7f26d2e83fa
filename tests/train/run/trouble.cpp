// Runs in trouble: bad steps, spikes, and a disk that does not take what is saved.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "addnorm/train/checkpoint.h"
#include "train/run/runs.h"

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

/// Gradients are a hundred times too large in every step whose first sample is from kFrom on and before `to`.
struct Diverging : Watcher {
  explicit Diverging(const fs::path& run) : checkpoints(run / "checkpoints") {}
  void on_plan(const RunPlan& plan) override {
    options = plan.options;
    data = plan.data.train;
  }
  void on_gradients(std::int64_t, Model& model) override {
    if (sample < kFrom || sample >= to) return;
    for_each_parameter(model, [](Parameter& p) {
      for (float& g : p.value.grad().values<float>()) g *= 100;
    });
  }
  void on_step(const StepRecord& record) override {
    Watcher::on_step(record);
    if (restored) {
      EXPECT_EQ(record.loss, loss_from(*restored, record.step));
    }
    restored.reset();
    if (sample == kFrom - kBatch) damage();
    sample += kBatch;
    if (record.outcome != StepOutcome::rolled_back) return;
    restored = CheckpointFolder(checkpoints).newest(nullptr);
    back_at.push_back(sample);
    EXPECT_EQ(restored->step, 70);  // not 75, which is damaged
  }
  /// The newest checkpoint does not verify any more: the one before is what a run can go back to.
  void damage() const {
    const fs::path newest = CheckpointFolder(checkpoints).files().back();
    EXPECT_EQ(newest.filename(), "step-00000075.safetensors");
    test::flip_bit(newest, fs::file_size(newest) * 4);
  }
  /// Of the samples that are next, with the weights of a checkpoint file: no others have the same.
  double loss_from(const Snapshot& checkpoint, std::int64_t step) const {
    const auto model = make_model(options.model);
    const std::map<std::string, Tensor> saved(checkpoint.tensors.begin(), checkpoint.tensors.end());
    for_each_parameter(*model, [&](Parameter& p) {
      std::ranges::copy(saved.at("model." + p.path).values<float>(), p.value.value().values<float>().begin());
    });
    const Pass pass{.train = true, .seed = options.seed, .step = static_cast<std::uint64_t>(step)};
    return batch_loss(*model, data->batch(sample, kBatch), pass).value().item();
  }

  static constexpr std::uint64_t kBatch = 4, kFrom = 76 * kBatch;
  fs::path checkpoints;
  RunOptions options;
  std::shared_ptr<const Dataset> data;
  std::uint64_t sample = 0, to = UINT64_MAX;  // `sample`: the first one of the step that is being made
  std::optional<Snapshot> restored;           // the checkpoint that the run has just gone back to
  std::vector<std::uint64_t> back_at;         // samples that were gone when it went back
};

// T-05 with files: three spikes in a row lead back to the newest checkpoint that verifies, and on after their samples.
TEST_F(Runs, T05ADivergenceThatEndsIsPassedWithItsSamples) {
  Diverging run(folder.path / "a");
  run.to = Diverging::kFrom + 3 * Diverging::kBatch;
  EXPECT_TRUE(train_run(request("a", "\"steps\": 85, \"spike_guard\": 8, \"dropout\": 0.1"), run).finished);
  EXPECT_EQ(run.back_at, std::vector{run.to});
  // 76 good steps, 3 bad ones, and 15 from step 71 on: every sample once.
  EXPECT_EQ(run.losses.size(), 94u);
  const std::string record = CheckpointFolder(run.checkpoints).newest(nullptr)->record;
  EXPECT_NE(record.find(concat("\"next_sample\":", 94 * Diverging::kBatch, ",")), std::string::npos) << record;
}

TEST_F(Runs, T05ADivergenceThatStaysLeadsBackThreeTimesAndThenStops) {
  Diverging run(folder.path / "a");
  const std::string message = [&] {
    try {
      train_run(request("a", "\"steps\": 200, \"spike_guard\": 8"), run);
    } catch (const NumericsError& error) {
      return std::string(error.what());
    }
    return std::string();
  }();
  EXPECT_NE(message.find("going back three times did not help"), std::string::npos) << message;
  std::vector<std::uint64_t> want;
  for (const std::uint64_t times : {1u, 2u, 3u}) want.push_back(Diverging::kFrom + 3 * times * Diverging::kBatch);
  EXPECT_EQ(run.back_at, want);
}

TEST_F(Runs, ABadStepIsNotLostTheStateBeforeItIsSaved) {
  RunRequest wild = request("a", "\"steps\": 20, \"lr\": 1e30, \"clip_grad_norm\": 0, \"warmup_steps\": 0");
  const std::string message = refusal(wild);
  EXPECT_NE(message.find("step "), std::string::npos) << message;
  EXPECT_FALSE(CheckpointFolder(folder.path / "a/checkpoints").files().empty());
  const std::string metrics = test::text_of(folder.path / "a/metrics.jsonl");
  EXPECT_NE(metrics.find("\"stopped\":\"step "), std::string::npos) << metrics;  // the last line says why
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

TEST_F(Runs, K03SavingThatFailsForAWhileIsReportedAndTriedAgain) {
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
