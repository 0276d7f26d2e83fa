// T-01: stopped anywhere, moved, or damaged, a run goes on exactly.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>

#include "addnorm/train/run_folder.h"
#include "train/run/runs.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::Runs;
using test::story;
using test::Watcher;

// T-01 in its folder: stopped in the warm-up, right after a measurement, between two saves, and twice without a step.
TEST_F(Runs, T01GoOnExactlyAfterFiveStops) {
  Watcher straight;
  train_run(request("whole"), straight);
  std::vector<double> losses;
  for (const std::int64_t last : {2, 5, 13, 13, 19, 1 << 30}) {
    Watcher watcher(last);
    train_run(request("parts", "\"steps\": 20", last != 2), watcher);
    losses.insert(losses.end(), watcher.losses.begin(), watcher.losses.end());
  }
  EXPECT_EQ(losses, straight.losses);
  EXPECT_TRUE(weights("parts") == weights("whole"));
  EXPECT_EQ(test::text_of(folder.path / "parts/best/model.safetensors"),
            test::text_of(folder.path / "whole/best/model.safetensors"));
}

/// Lines of metrics.jsonl without what a clock says.
std::vector<std::string> without_seconds(std::vector<std::string> lines) {
  for (std::string& line : lines) line = std::regex_replace(line, std::regex(R"("seconds":[^,}]*)"), "\"seconds\":0");
  return lines;
}

// Every line has loss and gradient norm of its step, which no other samples in any other order would give.
TEST_F(Runs, T01GoOnExactlyAtTheEndOfAnEpochAndOneStepBeforeAndAfterIt) {
  struct Plan : Watcher {
    using Watcher::Watcher;
    void on_plan(const RunPlan& plan) override { windows = plan.data.train->size(); }
    std::uint64_t windows = 0;
  } straight;
  const fs::path text = folder.write("text.txt", story().substr(0, 560));
  const std::string data = concat(R"("steps": 33, "dropout": 0.1, "data": [")", text.string(), "\"]");
  train_run(request("whole", data), straight);
  ASSERT_EQ(straight.windows, 40u);  // batches of 4: an epoch is 10 steps
  std::vector<double> losses;
  for (const std::int64_t last : {9, 10, 11, 20, 31, 1 << 30}) {
    Watcher watcher(last);
    train_run(request("parts", data, last != 9), watcher);
    losses.insert(losses.end(), watcher.losses.begin(), watcher.losses.end());
  }
  EXPECT_EQ(losses, straight.losses);
  EXPECT_EQ(without_seconds(lines("parts")), without_seconds(lines("whole")));
  EXPECT_TRUE(weights("parts") == weights("whole"));
}

TEST_F(Runs, T09MetricsHaveEachStepOnceWhateverWasLeftThere) {
  Watcher watcher(13);
  train_run(request("a"), watcher);
  std::ofstream(folder.path / "a/metrics.jsonl", std::ios::app) << "{\"step\": 14, \"loss\": 1}\n{\"step\": 15, \"lo";
  Watcher rest;
  train_run(request("a", "\"steps\": 20", true), rest);
  std::vector<int> times(21);
  for (const std::string& line : lines("a"))
    if (line.find("validation") == std::string::npos)
      times[static_cast<std::size_t>(std::stoi(line.substr(line.find(':') + 1)))] += 1;
  for (std::size_t step = 1; step <= 20; ++step) EXPECT_EQ(times[step], 1) << "step " << step;
}

TEST_F(Runs, ABrokenCheckpointIsNamedLeftAndTheOneBeforeTaken) {
  Watcher straight;
  train_run(request("whole"), straight);
  Watcher watcher(15);
  train_run(request("a"), watcher);
  const fs::path newest = folder.path / "a/checkpoints/step-00000015.safetensors";
  test::flip_bit(newest, fs::file_size(newest) * 4);
  Watcher rest;
  train_run(request("a", "\"steps\": 20", true), rest);
  ASSERT_FALSE(rest.warnings.empty());
  EXPECT_NE(rest.warnings[0].find("step-00000015"), std::string::npos) << rest.warnings[0];
  EXPECT_EQ(rest.losses.size(), 10u);  // from step 10 on
  EXPECT_TRUE(weights("a") == weights("whole"));
}

TEST_F(Runs, KilledBetweenTheLastCheckpointAndItsWeightsTheWeightsFollow) {
  Watcher watcher, again;
  train_run(request("a"), watcher);
  const std::string want = weights("a");
  fs::remove(folder.path / "a/model.safetensors");
  EXPECT_TRUE(train_run(request("a", "\"steps\": 20", true), again).finished);
  EXPECT_TRUE(weights("a") == want);
}

TEST_F(Runs, ASignalWithinAMeasurementLosesNothing) {
  Watcher straight;
  train_run(request("whole"), straight);
  struct Within : Watcher {
    bool go_on() override {
      return seen < 10 || ++asked < 2;
    }  // yes to the first batch of the measurement after step 10, then no
    int asked = 0;
  } within;
  train_run(request("a"), within);
  EXPECT_EQ(within.validations.size(), 1u);
  Watcher rest;
  train_run(request("a", "\"steps\": 20", true), rest);
  std::vector<double> all = within.validations;
  all.insert(all.end(), rest.validations.begin(), rest.validations.end());
  EXPECT_EQ(all, straight.validations);
  EXPECT_EQ(test::text_of(folder.path / "a/best/model.safetensors"), test::text_of(folder.path / "whole/best/model.safetensors"));
}

/// The working directory, for as long as it lives.
struct In {
  explicit In(const fs::path& folder) : before(fs::current_path()) { fs::current_path(folder); }
  ~In() { fs::current_path(before); }
  fs::path before;
};

TEST_F(Runs, K05AFolderThatWasMovedGoesOnFromAnotherWorkingDirectory) {
  const fs::path text = folder.write("text.txt", story());
  const std::string more = "\"steps\": 20, \"data\": [\"text.txt\"]";
  {
    const In here(folder.path);
    Watcher whole, part(7);
    train_run(request("whole", more), whole);
    train_run(request("a", more), part);
  }
  fs::create_directories(folder.path / "elsewhere");
  fs::rename(folder.path / "a", folder.path / "elsewhere/b");
  const In there(folder.path / "elsewhere");
  Watcher rest;
  EXPECT_TRUE(train_run(request("elsewhere/b", "\"steps\": 20", true), rest).finished);
  EXPECT_TRUE(weights("elsewhere/b") == weights("whole"));

  fs::rename(text, folder.path / "renamed.txt");
  const std::string message = refusal(request("whole", "\"steps\": 20", true));
  EXPECT_NE(message.find(text.string() + ": the data of"), std::string::npos) << message;
  EXPECT_NE(message.find("with data FILE"), std::string::npos) << message;
  Watcher again;
  EXPECT_TRUE(train_run(request("whole", "\"steps\": 20, \"data\": [\"../renamed.txt\"]", true), again).finished);
  EXPECT_EQ(data_of_run({folder.path / "whole"}), std::vector{(folder.path / "renamed.txt").string()});
}

TEST_F(Runs, K05AFolderThatIsTakenAwayInTheMiddleIsMadeAnew) {
  struct Away : Watcher {
    explicit Away(fs::path path) : run(std::move(path)) {}
    void on_step(const StepRecord& record) override {
      Watcher::on_step(record);
      if (record.step == 8) fs::rename(run, run.string() + "-away");
    }
    fs::path run;
  } away(folder.path / "a");
  Watcher straight, more;
  train_run(request("whole"), straight);
  EXPECT_TRUE(train_run(request("a"), away).finished);
  EXPECT_TRUE(weights("a") == weights("whole"));
  EXPECT_TRUE(train_run(request("a-away", "\"steps\": 20", true), more).finished);  // from step 5 on
  EXPECT_TRUE(weights("a-away") == weights("whole"));
}

TEST_F(Runs, ByAnotherNameOfTheSameInit) {
  Watcher until(10), rest;
  train_run(request("a", R"("steps": 20, "init": "gpt2")"), until);
  EXPECT_TRUE(train_run(request("a", R"("steps": 20, "init": "Nano GPT")", true), rest).finished);
  EXPECT_NE(refusal(request("a", R"("steps": 20, "init": "llama")", true)).find(R"(init: "gpt2" in the run, "bert" now)"),
            std::string::npos);
}

}  // namespace
}  // namespace addnorm
