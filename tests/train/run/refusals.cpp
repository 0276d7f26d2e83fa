// What a run refuses, with the difference, and without touching what is there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "addnorm/train/checkpoint.h"
#include "train/run/runs.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::Runs;
using test::Watcher;

TEST_F(Runs, K10ResumingNothingIsAnErrorUnlessAskedFor) {
  EXPECT_NE(refusal(request("none", "\"steps\": 20", true)).find("no run to resume"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder.path / "none"));
  RunRequest either = request("none");
  either.resume_or_start = true;
  Watcher watcher;
  EXPECT_TRUE(train_run(either, watcher).finished);
}

TEST_F(Runs, ARunIsNeverBegunOverAnother) {
  Watcher watcher(3);
  train_run(request("a"), watcher);
  const std::string before = weights("a");
  EXPECT_NE(refusal(request("a")).find("has a run already"), std::string::npos);
  EXPECT_TRUE(weights("a") == before);
}

TEST_F(Runs, K09OtherOptionsAreRefusedWithTheDifference) {
  Watcher watcher(6);
  train_run(request("a"), watcher);
  const std::string before = weights("a");
  for (const auto& [more, expected] : std::vector<std::pair<std::string, std::string>>{
           {"\"steps\": 20, \"lr\": 0.5", "\n  lr: 0.001 in the run, 0.5 now"},
           {"\"steps\": 20, \"optimizer\": \"sgd\"", "\n  optimizer: \"adamw\" in the run, \"sgd\" now"},
           {"\"steps\": 20, \"arrangement\": \"post-ln\"", "\n  arrangement: \"pre-ln\" in the run, \"post-ln\" now"},
           {"\"steps\": 20, \"dropout\": 0.5", "\n  dropout: 0.0 in the run, 0.5 now"},
           {"\"steps\": 20, \"init\": \"gtp2\"", "init: unknown initialisation 'gtp2'; did you mean gpt2?"},
           {"\"steps\": 30", "Add replan to"}}) {
    const std::string message = refusal(request("a", more, true));
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  }
  for (const std::string wrong : {"\"d_model\": 32", "\"layers\": 3", "\"batch_size\": 8", "\"seed\": 4"}) {
    RunRequest other = request("a", "", true);
    other.given = run_options_from_json("{" + wrong + "}", "the test");
    EXPECT_NE(refusal(other).find(" in the run, "), std::string::npos) << wrong;
  }
  EXPECT_TRUE(weights("a") == before);
}

TEST_F(Runs, K09ChangedDataIsRefused) {
  const fs::path text = folder.write("text.txt", std::string(2000, 'a') + std::string(2000, 'b'));
  const std::string data = "\"steps\": 20, \"data\": [\"" + text.string() + "\"]";
  Watcher watcher(7);
  train_run(request("a", data), watcher);
  folder.write("text.txt", std::string(2000, 'b') + std::string(2000, 'a'));
  EXPECT_NE(refusal(request("a", data, true)).find("the data is not what the run has learned from"), std::string::npos);
}

TEST_F(Runs, K09OtherLettersWithTheSameIdsAreOtherData) {
  const fs::path text = folder.write("text.txt", std::string(2000, 'a') + std::string(2000, 'b'));
  const std::string data = "\"steps\": 20, \"data\": [\"" + text.string() + "\"]";
  Watcher watcher(7);
  train_run(request("a", data), watcher);
  folder.write("text.txt", std::string(2000, 'c') + std::string(2000, 'd'));
  EXPECT_NE(refusal(request("a", data, true)).find("the data is not what the run has learned from"), std::string::npos);
}

TEST_F(Runs, OptionsThatCannotBeAreRefusedOnResumeTooAndDoNotStay) {
  Watcher watcher(6), rest;
  train_run(request("a"), watcher);
  for (const std::string name : {"log_every", "eval_every", "save_every", "steps"}) {
    RunRequest wrong = request("a", "", true);
    wrong.given = run_options_from_json(concat("{\"", name, "\": 0}"), "the test");
    const std::string said = name + (name == "steps" ? ": 20 in the run, 0 now" : " is 0; it must be at least 1");
    EXPECT_NE(refusal(wrong).find(said), std::string::npos) << refusal(wrong);
  }
  EXPECT_TRUE(train_run(request("a", "\"steps\": 20", true), rest).finished);
}

TEST_F(Runs, K09ARunWhoseCheckpointsCannotBeReadIsNotBegunAnew) {
  Watcher watcher(12);
  train_run(request("a"), watcher);
  for (const fs::path& file : CheckpointFolder(folder.path / "a/checkpoints").files())
    test::flip_bit(file, fs::file_size(file) * 4);
  const std::size_t before = lines("a").size();
  RunRequest either = request("a");
  either.resume_or_start = true;
  EXPECT_NE(refusal(either).find("none of its checkpoints can be read"), std::string::npos);
  EXPECT_EQ(lines("a").size(), before);
}

TEST_F(Runs, K09ARecordThatWasEditedByHandIsNoticed) {
  Watcher watcher(6), rest;
  train_run(request("a"), watcher);
  const fs::path record = folder.path / "a/run.json";
  const std::string before = test::text_of(record);
  for (const auto& [from, to, expected] : std::vector<std::array<std::string, 3>>{
           {"\"lr\": 0.001", "\"lr\": 0.5", "\n  lr: 0.001 in the checkpoint, 0.5 now"},
           {"\"seed\": 3", "\"seed\": 4", "seed: 3 in the checkpoint, 4 now"},
           {"\"dropout\": 0.0", "\"dropout\": 0.1", "\n  dropout: 0.0 in the checkpoint, 0.1 now"},
           {"\"steps\": 20", "\"steps\": 30", "steps: 20 in the checkpoint, 30 now"}}) {
    std::string edited = before;
    ASSERT_NE(edited.find(from), std::string::npos) << from;
    test::write_text(record, edited.replace(edited.find(from), from.size(), to));
    RunRequest again = request("a", "", true);
    again.given = run_options_from_json("{}", "the test");
    const std::string message = refusal(again);
    EXPECT_NE(message.find(expected), std::string::npos) << message;
    EXPECT_NE(message.find("run.json"), std::string::npos) << message;
  }
  test::write_text(record, before);
  EXPECT_TRUE(train_run(request("a", "\"steps\": 20", true), rest).finished);
}

TEST_F(Runs, K11TwoAtATimeAreRefused) {
  struct Second : Watcher {
    explicit Second(const Runs& all) : runs(all) {}
    void on_step(const StepRecord& record) override {
      if (record.step == 6) message = refusal(runs.request("a", "\"steps\": 20", true));
    }
    const Runs& runs;
    std::string message;
  } watcher(*this);
  train_run(request("a"), watcher);
  EXPECT_NE(watcher.message.find(std::to_string(getpid())), std::string::npos) << watcher.message;
}

}  // namespace
}  // namespace addnorm
