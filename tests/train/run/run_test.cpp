// Runs in their folders: what they write there, and what of others stays.
#include <gtest/gtest.h>

#include <algorithm>

#include "addnorm/train/weights.h"
#include "train/run/runs.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::kTiny;
using test::Runs;
using test::Watcher;

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

}  // namespace
}  // namespace addnorm
