// Runs in their folders: nothing is lost, nothing is mixed up.
#include "addnorm/train/run.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>

#include "addnorm/train/checkpoint.h"
#include "addnorm/train/run_folder.h"
#include "addnorm/train/weights.h"
#include "support/folder.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

const char* const kTiny =
    R"("layers": 2, "d_model": 16, "heads": 2, "seq_len": 12, "batch_size": 4, "eval_every": 5, "eval_samples": 8,
                             "save_every": 5, "seed": 3)";

GivenOptions options(const std::string& more = "\"steps\": 20") {
  return run_options_from_json(std::string("{") + kTiny + (more.empty() ? "" : ", " + more) + "}", "the test");
}

/// Stops after some steps, and keeps what it hears.
struct Watcher : RunObserver {
  explicit Watcher(std::int64_t last = 1 << 30) : most(last) {}
  bool go_on() override { return seen < most; }
  void on_step(const StepRecord& record) override {
    seen = record.step;
    losses.push_back(record.loss);
  }
  void on_warning(const std::string& message) override { warnings.push_back(message); }
  void on_validation(std::int64_t, const Evaluation& result, bool) override { validations.push_back(result.loss); }
  std::int64_t most, seen = 0;
  std::vector<double> losses, validations;
  std::vector<std::string> warnings;
};

struct Runs : testing::Test {
  RunRequest request(const std::string& name, const std::string& more = "\"steps\": 20", bool resume = false) const {
    return {.folder = folder.path / name, .cache = folder.path / "cache", .given = options(more), .resume = resume};
  }
  std::string weights(const std::string& name) const { return test::text_of(folder.path / name / "model.safetensors"); }
  static std::string refusal(const RunRequest& request) {
    Watcher watcher;
    try {
      train_run(request, watcher);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  std::vector<std::string> lines(const std::string& name) const {
    std::ifstream file(folder.path / name / "metrics.jsonl");
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }
  test::TemporaryFolder folder;
};

TEST_F(Runs, WriteWhatOthersCanOpen) {
  Watcher watcher;
  const RunResult result = train_run(request("a"), watcher);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.steps, 20);
  EXPECT_EQ(watcher.validations.size(), 4u);
  EXPECT_EQ(*result.best, *std::ranges::min_element(watcher.validations));
  for (const char* file : {"run.json", "metrics.jsonl", "model.safetensors", "config.json", "tokenizer.json",
                           "best/model.safetensors", "best/config.json", "checkpoints/step-00000020.safetensors"})
    EXPECT_TRUE(fs::exists(folder.path / "a" / file)) << file;
  const auto model = load_model(folder.path / "a");
  EXPECT_EQ(model->config().layers, 2u);
  EXPECT_EQ(lines("a").size(), 24u);  // 20 steps, 4 measurements
  EXPECT_EQ(watcher.validations.at(static_cast<std::size_t>(result.best_step) / 5 - 1), *result.best);
  for (const std::string& line : lines("a")) EXPECT_EQ(line.find("exact_match"), std::string::npos) << line;  // no answers here
}

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

TEST_F(Runs, T01TextAcrossTheEndsOfEpochs) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the quick brown fox jumps over the lazy dog number " + std::to_string(i) + "\n";
  const std::string data = "\"steps\": 200, \"data\": [\"" + folder.write("text.txt", text).string() + "\"]";
  Watcher straight;
  train_run(request("whole", data), straight);  // an epoch is about 57 steps
  for (const std::int64_t last : {57, 120, 1 << 30}) {
    Watcher watcher(last);
    train_run(request("parts", data, last != 57), watcher);
  }
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
  for (const auto& [more, told] : std::vector<std::pair<std::string, std::string>>{
           {"\"steps\": 20, \"lr\": 0.5", "--lr: 0.001 in the run, 0.5 now"},
           {"\"steps\": 20, \"optimizer\": \"sgd\"", "--optimizer: \"adamw\" in the run, \"sgd\" now"},
           {"\"steps\": 20, \"arrangement\": \"post-ln\"", "--arrangement: \"pre-ln\" in the run, \"post-ln\" now"},
           {"\"steps\": 20, \"dropout\": 0.5", "--dropout: 0.0 in the run, 0.5 now"},
           {"\"steps\": 30", "--replan"}}) {
    const std::string message = refusal(request("a", more, true));
    EXPECT_NE(message.find(told), std::string::npos) << message;
  }
  for (const std::string wrong : {"\"d_model\": 32", "\"layers\": 3", "\"batch_size\": 8", "\"seed\": 4"}) {
    RunRequest other = request("a", "", true);
    other.given = run_options_from_json("{" + wrong + "}", "the test");
    EXPECT_NE(refusal(other).find(" in the run, "), std::string::npos) << wrong;
  }
  EXPECT_TRUE(weights("a") == before);
}

TEST_F(Runs, MayGetMoreStepsWhenTheScheduleDoesNotMindOrIsPlannedAnew) {
  Watcher first, second, third;
  train_run(request("constant", "\"steps\": 10, \"schedule\": \"constant\""), first);
  EXPECT_EQ(train_run(request("constant", "\"steps\": 15, \"schedule\": \"constant\"", true), second).steps, 15);
  Watcher fourth;
  train_run(request("cosine", "\"steps\": 10"), fourth);
  RunRequest more = request("cosine", "\"steps\": 15", true);
  more.replan = true;
  EXPECT_EQ(train_run(more, third).steps, 15);
}

TEST_F(Runs, K09ChangedDataIsRefused) {
  const fs::path text = folder.write("text.txt", std::string(2000, 'a') + std::string(2000, 'b'));
  const std::string data = "\"steps\": 20, \"data\": [\"" + text.string() + "\"]";
  Watcher watcher(7);
  train_run(request("a", data), watcher);
  folder.write("text.txt", std::string(2000, 'b') + std::string(2000, 'a'));
  EXPECT_NE(refusal(request("a", data, true)).find("the data is not what the run has learned from"), std::string::npos);
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

TEST_F(Runs, OptionsThatCannotBeAreRefusedOnResumeTooAndDoNotStay) {
  Watcher watcher(6), rest;
  train_run(request("a"), watcher);
  for (const char* name : {"log_every", "eval_every", "save_every", "steps"}) {
    RunRequest wrong = request("a", "", true);
    wrong.given = run_options_from_json(concat("{\"", name, "\": 0}"), "the test");
    EXPECT_NE(refusal(wrong).find(option_name(name)), std::string::npos) << refusal(wrong);
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

TEST_F(Runs, FilesOfTheUserInTheFolderStay) {
  folder.write("a/draft.tmp.999999", "mine");
  folder.write("a/notes/draft.tmp.999999", "mine");
  folder.write("a/model.safetensors.tmp.999999", "left by a run that was killed");
  Watcher watcher;
  train_run(request("a"), watcher);
  EXPECT_TRUE(fs::exists(folder.path / "a/draft.tmp.999999"));
  EXPECT_TRUE(fs::exists(folder.path / "a/notes/draft.tmp.999999"));
  EXPECT_FALSE(fs::exists(folder.path / "a/model.safetensors.tmp.999999"));
}

TEST_F(Runs, K09OtherLettersWithTheSameIdsAreOtherData) {
  const fs::path text = folder.write("text.txt", std::string(2000, 'a') + std::string(2000, 'b'));
  const std::string data = "\"steps\": 20, \"data\": [\"" + text.string() + "\"]";
  Watcher watcher(7);
  train_run(request("a", data), watcher);
  folder.write("text.txt", std::string(2000, 'c') + std::string(2000, 'd'));
  EXPECT_NE(refusal(request("a", data, true)).find("the data is not what the run has learned from"), std::string::npos);
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

TEST_F(Runs, ABadStepIsNotLostTheStateBeforeItIsSaved) {
  RunRequest wild = request("a", "\"steps\": 20, \"lr\": 1e30, \"clip_grad_norm\": 0, \"warmup_steps\": 0");
  const std::string message = refusal(wild);
  EXPECT_NE(message.find("step "), std::string::npos) << message;
  EXPECT_FALSE(CheckpointFolder(folder.path / "a/checkpoints").files().empty());
}

/// The working directory, for as long as it lives.
struct In {
  explicit In(const fs::path& folder) : before(fs::current_path()) { fs::current_path(folder); }
  ~In() { fs::current_path(before); }
  fs::path before;
};

std::string story() {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the quick brown fox jumps over the lazy dog number " + std::to_string(i) + "\n";
  return text;
}

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
  EXPECT_NE(message.find("--data FILE"), std::string::npos) << message;
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

TEST_F(Runs, K09ARecordThatWasEditedByHandIsNoticed) {
  Watcher watcher(6), rest;
  train_run(request("a"), watcher);
  const fs::path record = folder.path / "a/run.json";
  const std::string before = test::text_of(record);
  for (const auto& [from, to, told] : std::vector<std::array<std::string, 3>>{
           {"\"lr\": 0.001", "\"lr\": 0.5", "lr: 0.001 in the checkpoint, 0.5 now"},
           {"\"seed\": 3", "\"seed\": 4", "seed: 3 in the checkpoint, 4 now"},
           {"\"dropout\": 0.0", "\"dropout\": 0.1", "dropout: 0.0 in the checkpoint, 0.1 now"},
           {"\"steps\": 20", "\"steps\": 30", "steps: 20 in the checkpoint, 30 now"}}) {
    std::string edited = before;
    ASSERT_NE(edited.find(from), std::string::npos) << from;
    test::write_text(record, edited.replace(edited.find(from), from.size(), to));
    RunRequest again = request("a", "", true);
    again.given = run_options_from_json("{}", "the test");
    const std::string message = refusal(again);
    EXPECT_NE(message.find(told), std::string::npos) << message;
    EXPECT_NE(message.find("run.json"), std::string::npos) << message;
  }
  test::write_text(record, before);
  EXPECT_TRUE(train_run(request("a", "\"steps\": 20", true), rest).finished);
}

TEST_F(Runs, ThatAreFinishedHaveNothingLeftToDo) {
  struct Plan : Watcher {
    void on_plan(const RunPlan& plan) override { first = plan.first_step; }
    std::int64_t first = 0;
  } again;
  Watcher watcher;
  const RunResult done = train_run(request("a"), watcher);
  const RunResult result = train_run(request("a", "\"steps\": 20", true), again);
  EXPECT_TRUE(result.finished && again.losses.empty());
  EXPECT_EQ(again.first, 21);
  EXPECT_EQ(result.best, done.best);
  EXPECT_EQ(result.best_step, done.best_step);
}

struct OpenedData : Runs {
  std::unique_ptr<RunSource> opened(const std::string& text, const std::string& more = "") const {
    return open_source(given(text, more), folder.path / "cache");
  }
  RunOptions given(const std::string& text, const std::string& more = "") const {
    return options(concat("\"data\": [\"", folder.write("text.txt", text).string(), "\"]", more)).options;
  }
};

TEST_F(OpenedData, BitsPerByteAreOfTheBytesThatAreMeasured) {
  std::string text(1800, 'a');
  for (int i = 0; i < 200; ++i) text += "\u00e9";  // two bytes each, in the last tenth alone
  const RunOptions o = given(text);
  const auto source = opened(text);
  EXPECT_EQ(source->datasets(o).validation->bytes_per_label(), 2);
  EXPECT_EQ(source->datasets(o).train->bytes_per_label(), 1);
  EXPECT_DOUBLE_EQ(source->everything(o)->bytes_per_label(), (1799 + 400) / 1999.0);
}

TEST_F(OpenedData, ATextShorterThanTheContextIsMeasuredAsOneWindow) {
  const auto all = opened("abcde")->everything(given("abcde"));
  EXPECT_EQ(all->size(), 1u);
  EXPECT_EQ(all->batch(0, 1).counted(), 4u);
}

TEST_F(OpenedData, T08WhatIsNoTextIsNamedUnlessBytesAreAskedFor) {
  std::string wide;
  for (const char letter : story()) wide += {letter, '\0'};
  for (const auto& [text, told] : std::vector<std::pair<std::string, std::string>>{{"\x1F\x8B\x08 and more \xFF", "gzip"},
                                                                                   {"PK\x03\x04 \xFF\xFE", "zip"},
                                                                                   {"\xFF\xFE" + wide, "UTF-16"},
                                                                                   {wide, "UTF-16"}}) {
    try {
      opened(text);
      ADD_FAILURE() << told;
    } catch (const DataError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(told), std::string::npos) << message;
      EXPECT_NE(message.find("text.txt"), std::string::npos) << message;
    }
    EXPECT_NO_THROW(opened(text, ", \"tokenizer\": \"bytes\""));
  }
  EXPECT_EQ(opened(story())->datasets(given(story())).tokens, "characters: the text is UTF-8 and has 38 different ones");
}

TEST(RunOptions, OfARunAreRepeatedWithoutWhatIsPlannedOrDecidedByItsDataAnyway) {
  const GivenOptions given = run_options_from_json(
      R"({"layers": 2, "d_model": 32, "heads": 2, "seq_len": 8, "steps": 100, "batch_size": 4, "lr": 0.002, "seed": 9})",
      "a test");
  RunOptions planned_options = planned(given, {});
  planned_options.model.vocab = 5;
  planned_options.model = completed(planned_options.model);
  const GivenOptions again = run_options_from_json(options_to_repeat(to_json(planned_options), "a test"), "a test");
  EXPECT_EQ(again.given, given.given);
  EXPECT_EQ(again.options.lr, 0.002);
  EXPECT_NO_THROW(require_used(again));
}

TEST_F(Runs, EveryKindOfModelTrainsAndComesBack) {
  const std::vector<std::pair<std::string, std::string>> kinds{
      {"seq2seq", "\"model\": \"seq2seq\", \"task\": \"reverse\", \"seq_len\": 16"},
      {"encoder", "\"model\": \"encoder\""},
      {"mlp", "\"model\": \"mlp\""},
      {"task", "\"task\": \"add\", \"seq_len\": 24"},
      {"labelled", "\"model\": \"classifier\", \"data\": [\"" +
                       folder.write("l.tsv", "a\tfirst line\nb\tsecond one\na\tthird here\nb\tfourth one\n").string() + "\"]"},
      {"pairs", "\"model\": \"seq2seq\", \"seq_len\": 16, \"data\": [\"" +
                    folder.write("p.tsv", "ab\tba\nabc\tcba\nca\tac\nbb\tbb\n").string() + "\"]"},
      {"table", "\"model\": \"mlp\", \"data\": [\"" +
                    folder.write("t.csv", "1,2,x\n3,1,y\n2,2,x\n4,1,y\n5,0,y\n0,3,x\n").string() + "\"]"},
  };
  for (const auto& [name, more] : kinds) {
    SCOPED_TRACE(name);
    std::string text = std::string("{") + kTiny + "}";
    GivenOptions given = run_options_from_json(text, "the test");
    const GivenOptions own = run_options_from_json("{" + more + "}", "the test");
    // A later field takes the place of an earlier one, as the command line does with a file.
    RunOptions& o = given.options;
    o.data = own.options.data;
    o.task = own.options.task;
    o.model.model = own.options.model.model;
    if (own.given.contains("seq_len")) o.model.seq_len = own.options.model.seq_len;
    o.validation = 0.25;
    o.steps = 10;
    given.given.insert("steps");
    if (o.model.model == ModelKind::mlp)
      for (const char* unused : {"heads", "seq_len"}) given.given.erase(unused);
    RunRequest whole{.folder = folder.path / (name + "-whole"), .cache = folder.path / "cache", .given = given};
    RunRequest parts{.folder = folder.path / (name + "-parts"), .cache = folder.path / "cache", .given = given};
    Watcher straight, first(6), second;
    train_run(whole, straight);
    train_run(parts, first);
    parts.resume = true;
    train_run(parts, second);
    EXPECT_TRUE(weights(name + "-whole") == weights(name + "-parts"));
    EXPECT_NO_THROW(load_model(whole.folder));
  }
}

TEST(RunOptions, GoThroughJsonUnchanged) {
  const GivenOptions given =
      options("\"steps\": 7, \"schedule\": \"inverse-sqrt\", \"on_nan\": \"rollback\", \"arrangement\": \"PostLN\"");
  EXPECT_EQ(given.options.model.arrangement, "post-ln");
  EXPECT_TRUE(given.given.contains("steps"));
  const GivenOptions again = run_options_from_json(to_json(given.options), "again");
  EXPECT_EQ(to_json(again.options), to_json(given.options));
}

TEST(RunOptions, T10SlipsAreAnsweredWithNameAndRange) {
  const auto answer = [](const std::string& text) {
    try {
      planned(run_options_from_json(text, "my.json"), {});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const auto& [text, told] :
       std::vector<std::pair<std::string, std::string>>{{R"({"stpes": 3})", "did you mean steps?"},
                                                        {R"({"lyers": 3})", "did you mean layers?"},
                                                        {R"({"lr": "fast"})", "lr is \"fast\"; it must be a number"},
                                                        {R"({"lr": -1})", "--lr is -1"},
                                                        {R"({"batch_size": 0})", "--batch-size is 0"},
                                                        {R"({"steps": 0})", "--steps is 0"},
                                                        {R"({"steps": -3})", "steps is -3; it must be a whole number"},
                                                        {R"({"schedule": "cosin"})", "did you mean cosine?"},
                                                        {R"({"optimizer": "adamm"})", "did you mean adam"},
                                                        {R"({"validation": 1.5})", "--validation is 1.5"},
                                                        {R"({"keep": 1})", "--keep is 1"},
                                                        {R"({"label_smoothing": 2})", "--label-smoothing is 2"},
                                                        {R"({"steps": 9, "warmup_steps": 10})", "--warmup-steps is 10"},
                                                        {R"([1])", "an object of options"}}) {
    EXPECT_NE(answer(text).find(told), std::string::npos) << text << "\n" << answer(text);
  }
}

TEST(RunOptions, PlansFitTheAmountOfText) {
  const RunOptions small = planned(run_options_from_json("{}", "t"), {.tokens = 5000});
  const RunOptions large = planned(run_options_from_json("{}", "t"), {.tokens = 50'000'000});
  EXPECT_LT(small.model.d_model, large.model.d_model);
  EXPECT_LT(small.model.seq_len, large.model.seq_len);
  const RunOptions tiny = planned(run_options_from_json("{}", "t"), {.tokens = 60});
  EXPECT_EQ(tiny.model.seq_len, 14u);
  EXPECT_NO_THROW(planned(run_options_from_json("{}", "t"), {.tokens = 8}));
  EXPECT_THROW(planned(run_options_from_json("{}", "t"), {.tokens = 7}), DataError);
  EXPECT_LE(*planned(run_options_from_json(R"({"steps": 3})", "t"), {.tokens = 5000}).warmup_steps, 3u);
  EXPECT_EQ(planned(run_options_from_json(R"({"hidden_size": 40})", "t"), {.tokens = 5000}).model.d_model, 40u);
}

}  // namespace
}  // namespace addnorm
