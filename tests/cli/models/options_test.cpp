// Options of train and eval: words of other programs, files of options, what is refused, and the exit codes.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "addnorm/train/checkpoint.h"
#include "cli/process.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Ended;
using test::Process;

struct OptionsOfCommands : testing::Test {
  Ended run(std::vector<std::string> arguments) const { return Process(folder.path, std::move(arguments)).end(); }
  /// A model that is trained in no time; what `more` says goes after that.
  Ended train(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"train", "--quiet"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }
  Ended small(std::vector<std::string> more) const {
    more.insert(more.begin(), {"--layers", "1", "--d-model", "16", "--seq-len", "8", "--batch-size", "2", "--steps", "3"});
    return train(more);
  }
  json options_of(const std::string& name) const {
    return json::parse(test::text_of(folder.path / name / "run.json")).at("options");
  }
  testing::AssertionResult refused(const Ended& ended, int code, const std::string& message) const {
    if (ended.code != code) return testing::AssertionFailure() << "ended with " << ended.code << ": " << ended.err;
    if (ended.err.find(message) == std::string::npos)
      return testing::AssertionFailure() << "not '" << message << "': " << ended.err;
    if (std::ranges::count(ended.err, '\n') > 3) return testing::AssertionFailure() << "too long: " << ended.err;
    if (fs::exists(folder.path / "runs")) return testing::AssertionFailure() << "leaves a folder";
    return testing::AssertionSuccess();
  }
  test::TemporaryFolder folder;
};

TEST_F(OptionsOfCommands, WordsOfOtherProgramsAreUnderstood) {
  const Ended ended = train({"--n-layer", "1", "--n_head", "2", "--n-embd", "16", "--block-size", "8", "--max-iters", "3",
                             "--batch_size", "2", "--learning-rate", "0.002", "--weight_decay", "0.05", "--out", "run"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out + ended.err, "");  // --quiet
  const json options = options_of("run");
  EXPECT_EQ(options.at("d_model"), 16);
  EXPECT_EQ(options.at("heads"), 2);
  EXPECT_EQ(options.at("seq_len"), 8);
  EXPECT_EQ(options.at("steps"), 3);
  EXPECT_EQ(options.at("lr"), 0.002);
  EXPECT_EQ(options.at("weight_decay"), 0.05);
  EXPECT_TRUE(refused(train({"--epochs", "3"}), 2, "there is no --epochs: steps are counted"));
  EXPECT_TRUE(
      refused(train({"--lerning_rate", "3"}), 2, "unknown option '--lerning_rate'; did you mean --lr?\nRun 'addnorm train"));
  EXPECT_TRUE(refused(train({"--hidden-sizes", "3"}), 2, "did you mean --d-model?"));
  const std::string help = run({"train", "--help"}).out;
  EXPECT_EQ(help.find("--learning-rate"), std::string::npos);
  for (std::size_t begin = 0; begin < help.size(); begin = help.find('\n', begin) + 1)
    EXPECT_LE(help.find('\n', begin) - begin, 80u) << help.substr(begin, 100);
}

TEST_F(OptionsOfCommands, AFileOfOptionsGivesWhatTheCommandLineDoesNot) {
  folder.write("text.txt", std::string(3000, 'x'));
  folder.write(
      "my.json",
      R"({"data": "text.txt", "n_layer": 1, "d_model": 16, "seq_len": 8, "batch_size": 2, "max_steps": 3, "learning_rate": 0.002,
                              "threads": 1, "out": "mine"})");
  ASSERT_EQ(train({"--config", "my.json"}).code, 0);
  EXPECT_EQ(options_of("mine").at("steps"), 3);
  ASSERT_EQ(train({"--config", "my.json", "--out", "other", "--steps", "4", "--n-layer", "2"}).code, 0);
  EXPECT_EQ(options_of("other").at("steps"), 4);
  EXPECT_EQ(options_of("other").at("layers"), 2);
  EXPECT_EQ(options_of("other").at("lr"), 0.002);
}

TEST_F(OptionsOfCommands, TheRecordOfARunIsAFileOfOptionsForAnother) {
  ASSERT_EQ(
      train({"--task",  "reverse", "--model",      "seq2seq", "--layers", "1",     "--d-model", "16", "--batch-size", "2",
             "--steps", "40",      "--save-every", "30",      "--lr",     "0.002", "--seed",    "7",  "--out",        "one"})
          .code,
      0);
  ASSERT_EQ(train({"--config", "one/run.json", "--out", "two"}).code, 0);
  EXPECT_EQ(options_of("two"), options_of("one"));
  EXPECT_EQ(test::text_of(folder.path / "two/model.safetensors"), test::text_of(folder.path / "one/model.safetensors"));
  // What was planned is planned anew, what was said stays.
  ASSERT_EQ(train({"--config", "one/run.json", "--out", "three", "--steps", "80", "--lr", "0.0001", "--d-model", "8"}).code, 0);
  EXPECT_EQ(options_of("three").at("warmup_steps"), 4);
  EXPECT_EQ(options_of("three").at("min_lr"), 0.00001);
  EXPECT_EQ(options_of("three").at("d_ff"), 32);
  EXPECT_EQ(options_of("three").at("save_every"), 30);
  EXPECT_EQ(options_of("three").at("seed"), 7);
  std::string pairs;
  for (int i = 0; i < 40; ++i) pairs += "ab\tba\n";
  folder.write("pairs.tsv", pairs);
  EXPECT_EQ(train({"--config", "one/run.json", "--out", "four", "--steps", "3", "--data", "pairs.tsv"}).code, 0);
  EXPECT_EQ(options_of("four").at("task"), "");
  const json found = json::parse(test::text_of(folder.path / "four/run.json")).at("data_paths");
  EXPECT_EQ(train({"--config", "four/run.json", "--out", "five"}).code, 0);
  EXPECT_EQ(options_of("five").at("data"), found);  // which are there from any folder
}

TEST_F(OptionsOfCommands, TheRecordOfAModelWithoutHeadsIsOneToo) {
  ASSERT_EQ(train({"--model", "mlp", "--layers", "1", "--d-model", "16", "--steps", "3", "--out", "first"}).code, 0);
  const Ended again = train({"--config", "first/run.json", "--out", "second"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(options_of("first"), options_of("second"));
}

TEST_F(OptionsOfCommands, MoreStepsArePlannedAnewOnce) {
  ASSERT_EQ(small({"--out", "run"}).code, 0);
  const Process more(folder.path,
                     {"train", "--out", "run", "--resume", "--steps", "100000000", "--replan", "--save-every", "100000000"});
  ASSERT_TRUE(more.wait_for("resumed after step 3")) << more.said();
  ASSERT_TRUE(more.wait_for("\n      4 ")) << more.said();
  more.send(SIGKILL);
  more.end();
  const Process again(folder.path, {"train", "--out", "run", "--resume"});
  EXPECT_TRUE(again.wait_for("\n      4 ")) << again.said();
}

TEST_F(OptionsOfCommands, AFileThatIsNotUnderstoodIsAnsweredWithItsNameAndWhatIsAllowed) {
  const auto with = [&](const std::string& text) {
    folder.write("my.json", text);
    return train({"--config", "my.json"});
  };
  EXPECT_TRUE(refused(with(R"({"laers": 3})"), 2, "my.json: unknown field 'laers'; did you mean layers?\nFields are "));
  EXPECT_TRUE(refused(with(R"({"epochs": 3})"), 2, "my.json: there is no field 'epochs': steps are counted"));
  EXPECT_TRUE(refused(with(R"({"lr": 1, "learning_rate": 1})"), 2, "both lr and learning_rate are given"));
  EXPECT_TRUE(refused(with(R"({"lr": "x"})"), 2, "my.json: lr is \"x\"; it must be a number"));
  EXPECT_TRUE(refused(with(R"({"threads": -1})"), 2, "my.json: threads is -1; it must be a whole number"));
  EXPECT_TRUE(refused(with("[3]"), 2, "my.json: an object of options is expected"));
  EXPECT_TRUE(refused(with("{"), 2, "my.json: not JSON"));
  EXPECT_TRUE(refused(with(R"({"momentum": 0.5})"), 2, "--momentum has no effect"));
  EXPECT_TRUE(refused(train({"--config", "none.json"}), 2, "none.json"));
}

TEST_F(OptionsOfCommands, WhatWouldChangeNothingIsRefused) {
  folder.write("text.txt", std::string(3000, 'x'));
  for (const auto& [arguments, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--task", "copy", "--data", "text.txt"}, "--task has no effect beside --data"},
           {{"--tokenizer", "bytes"}, "--tokenizer has no effect without --data"},
           {{"--model", "mlp", "--data", "text.txt", "--tokenizer", "bytes"}, "--tokenizer has no effect on a table"},
           {{"--label", "3", "--data", "text.txt"}, "--label has no effect except on a table"},
           {{"--truncate", "--data", "text.txt"}, "--truncate has no effect except on pairs"},
           {{"--validation", "0.2"}, "--validation has no effect without --data"},
           {{"--validation", "0", "--eval-every", "3"}, "--eval-every has no effect with --validation 0"},
           {{"--decoder-layers", "2"}, "--decoder-layers has no effect except with --model seq2seq"},
           {{"--model", "mlp", "--heads", "2"}, "--heads has no effect in layers without attention"},
           {{"--model", "classifier", "--no-tied"}, "--tied has no effect on a model that predicts classes"},
           {{"--schedule", "constant", "--min-lr", "0"}, "--min-lr has no effect on this --schedule"},
           {{"--optimizer", "sgd", "--beta1", "0.8"}, "--beta1 has no effect on this --optimizer"},
           {{"--nesterov"}, "--nesterov has no effect on this --optimizer; sgd has it"},
           {{"--optimizer", "sgd", "--decay-all"}, "--decay-all has no effect where --weight-decay is 0"},
           {{"--bias", "--no-bias"}, "--bias and --no-bias are both given"},
           {{"--out", "a", "--name", "b"}, "--out and --name are both given"},
           {{"--out", "a", "--resume", "--resume-or-start"}, "--resume and --resume-or-start are both given"},
           {{"--replan"}, "--replan has no effect without --resume"},
           {{"--threads", "-1"}, "--threads is -1"},
           {{"--schedule", "cosinus"}, "--schedule: schedule is \"cosinus\"; it must be one of constant"}})
    EXPECT_TRUE(refused(small(arguments), 2, message));
}

TEST_F(OptionsOfCommands, FailuresEndWithOneAndWrongUseWithTwo) {
  ASSERT_EQ(small({"--out", "run"}).code, 0);
  {
    const RunLock held(folder.path / "run");
    EXPECT_TRUE(refused(train({"--out", "run", "--resume"}), 1, "run: this run is in use by process "));
  }
  EXPECT_TRUE(refused(small({"--out", "run"}), 2, "run has a run already"));
  EXPECT_TRUE(refused(train({"--out", "none", "--resume"}), 2, "none has no run to resume"));
  EXPECT_TRUE(refused(small({"--data", "none.txt"}), 1, "none.txt: there is no such file"));
  EXPECT_TRUE(refused(small({"--model", "mlp"}), 2, "--seq-len has no effect"));
  EXPECT_TRUE(refused(train({"--batch-size", "100000000"}), 1, "needs about"));
  EXPECT_TRUE(refused(run({"eval", "none"}), 1, "none is not there; name the folder of a run"));
  EXPECT_TRUE(refused(run({"eval", "run", "--nowhere"}), 2, "unknown option '--nowhere'"));
  EXPECT_TRUE(refused(run({"eval", "run", "--truncate"}), 2, "eval: --truncate has no effect except on pairs"));
  EXPECT_TRUE(refused(run({"eval", "run", "--batch-size", "0"}), 2, "eval: --batch-size is 0; it must be at least 1"));
  for (const auto& file : fs::directory_iterator(folder.path / "run/checkpoints")) fs::resize_file(file.path(), 100);
  const Ended broken = train({"--out", "run", "--resume"});
  EXPECT_EQ(broken.code, 1);
  EXPECT_NE(broken.err.find("warning: "), std::string::npos) << broken.err;  // --quiet leaves those
  EXPECT_NE(broken.err.find("none of its checkpoints can be read"), std::string::npos) << broken.err;
  fs::resize_file(folder.path / "run/model.safetensors", 100);
  EXPECT_EQ(run({"eval", "run", "--weights", "last"}).code, 1);
}

TEST_F(OptionsOfCommands, ARunIsNamedByTheFolderThatIsMeantAndIsNoTextToLearnFrom) {
  folder.write("book.txt", std::string(400, 'a') + std::string(400, 'b'));
  const std::string name = folder.path.filename().stem().string();
  ASSERT_EQ(small({"--data", "."}).code, 0);
  EXPECT_TRUE(fs::exists(folder.path / "runs" / name / "run.json"));
  fs::remove_all(folder.path / "addnorm");  // the cache, which lies here in tests
  const Ended again = run({"train", "--data", "./", "--steps", "1", "--layers", "1", "--d-model", "16"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(fs::exists(folder.path / "runs" / (name + "-2") / "run.json")) << again.err;
  EXPECT_NE(again.err.find("1 run left out"), std::string::npos) << again.err;
}

TEST_F(OptionsOfCommands, AStoppedRunPrintsItsResultToo) {
  const Process process(folder.path, {"train", "--layers", "1", "--d-model", "16", "--seq-len", "8", "--batch-size", "2",
                                      "--steps", "100000000", "--log-every", "1", "--json", "--out", "a b"});
  ASSERT_TRUE(process.wait_for("\n      2 ")) << process.said();
  process.send(SIGTERM);
  const Ended ended = process.end();
  EXPECT_EQ(ended.code, 143);
  EXPECT_EQ(json::parse(ended.out).at("finished"), false);
  EXPECT_NE(ended.err.find("--out 'a b' --resume"), std::string::npos) << ended.err;
}

TEST_F(OptionsOfCommands, ASampleIsMeasuredOnce) {
  folder.write("text.txt", "the dog sees a cat . the cats see a dog .");
  ASSERT_EQ(small({"--data", "text.txt", "--out", "of-text"}).code, 0);
  const auto tokens = [&](const std::string& samples) {
    const Ended ended = run({"eval", "of-text", "--data", "text.txt", "--samples", samples, "--json"});
    return ended.code == 0 ? json::parse(ended.out).at("labels").get<int>() : -1;
  };
  EXPECT_GT(tokens("0"), 0);
  EXPECT_EQ(tokens("1000000"), tokens("0"));
}

TEST_F(OptionsOfCommands, AnInputThatCannotBeReadIsNoEmptyText) {
  const Ended ended = Process(folder.path, {"train", "--data", "-", "--out", "run"}, folder.path.string()).end();
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_NE(ended.err.find("cannot be read to its end: Is a directory"), std::string::npos) << ended.err;
  EXPECT_FALSE(fs::exists(folder.path / "run"));
}

TEST_F(OptionsOfCommands, EvalAdvisesOnlyWhatItCanDo) {
  std::string pairs;
  for (int i = 0; i < 40; ++i) pairs += "abcd\tdcba\n";
  folder.write("pairs.tsv", pairs);
  ASSERT_EQ(
      train({"--model", "seq2seq", "--data", "pairs.tsv", "--layers", "1", "--d-model", "8", "--steps", "2", "--out", "run"})
          .code,
      0);
  folder.write("long.tsv", "abcdabcdabcdabcd\tdcba\n");
  EXPECT_TRUE(refused(run({"eval", "run", "--data", "long.tsv", "--weights", "last"}), 1, "--truncate cuts what is longer"));
  const Ended cut = run({"eval", "run", "--data", "long.tsv", "--truncate", "--json"});
  EXPECT_EQ(cut.code, 0) << cut.err;
  EXPECT_NE(cut.out.find("\"exact_match\""), std::string::npos);
}

TEST_F(OptionsOfCommands, HelpAndVersionMayFollowEveryCommand) {
  for (const char* command : {"train", "eval", "generate", "arrangements", "bench"}) {
    const Ended help = run({command, "--help"}), version = run({command, "--version"});
    EXPECT_EQ(help.code + version.code, 0) << command;
    EXPECT_NE(help.out.find(std::string("Usage: addnorm ") + command), std::string::npos);
    EXPECT_TRUE(version.out.starts_with("addnorm ")) << version.out;
  }
}

}  // namespace
}  // namespace addnorm
