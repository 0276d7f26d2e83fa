// Folders and files as the commands are given them: models without their run, names with commas, what a refusal leaves.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/process.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Ended;
using test::Process;

struct Folders : testing::Test {
  Ended run(std::vector<std::string> arguments, const std::function<void()>& before = {}) const {
    return Process(folder.path, std::move(arguments), "/dev/null", before).end();
  }
  Ended train(std::vector<std::string> more, const std::function<void()>& before = {}) const {
    if (std::ranges::find(more, "--d-model") == more.end()) more.insert(more.end(), {"--d-model", "16"});
    more.insert(more.begin(), {"train", "--quiet", "--layers", "1", "--batch-size", "2", "--steps", "3"});
    return run(more, before);
  }
  fs::path at(const std::string& name) const { return folder.path / name; }
  test::TemporaryFolder folder;
};

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST_F(Folders, AModelIsMeasuredWithoutItsRun) {
  folder.write("text", repeated("abcdefg hijk\n", 100));
  folder.write("pairs", repeated("ab\tba\nabc\tcba\n", 30));
  folder.write("labelled", repeated("x\tsome text\ny\tother\n", 30));
  folder.write("table", repeated("1,2,x\n3,1,y\n", 30));
  for (const auto& [model, data] :
       {std::pair{"lm", "text"}, {"encoder", "text"}, {"seq2seq", "pairs"}, {"classifier", "labelled"}, {"mlp", "table"}}) {
    SCOPED_TRACE(model);
    const std::string name = model, shared = name + "-shared";
    ASSERT_EQ(train({"--model", model, "--data", data, "--out", name}).code, 0);
    fs::create_directory(at(shared));
    for (const char* file : {"model.safetensors", "config.json", "tokenizer.json"})
      if (fs::exists(at(name) / file)) fs::copy(at(name) / file, at(shared) / file);
    const Ended whole = run({"eval", name, "--weights", "last", "--data", data, "--json"});
    const Ended alone = run({"eval", shared, "--data", data, "--json"});
    ASSERT_EQ(alone.code, 0) << alone.err;
    EXPECT_EQ(json::parse(alone.out), json::parse(whole.out));
    const Ended best = run({"eval", name + "/best", "--data", data, "--json"});
    ASSERT_EQ(best.code, 0) << best.err;
    EXPECT_EQ(json::parse(best.out), json::parse(run({"eval", name, "--data", data, "--json"}).out));
    EXPECT_EQ(run({"eval", shared, "--data", data}).out.find("learned from"), std::string::npos);
  }
  const Ended without = run({"eval", "lm-shared"});
  EXPECT_EQ(without.code, 2);
  EXPECT_NE(without.err.find("lm-shared has no run.json"), std::string::npos) << without.err;
  fs::remove(at("lm-shared/tokenizer.json"));
  const Ended refused = run({"eval", "lm-shared", "--data", "text"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("lm-shared has no tokenizer.json"), std::string::npos) << refused.err;
}

TEST_F(Folders, ACommaInTheNameOfAFileIsPartOfIt) {
  folder.write("one, two.txt", repeated("abcdefg hijk\n", 100));
  folder.write("three.txt", repeated("abcdefg\n", 100));
  ASSERT_EQ(train({"--data", "one, two.txt", "--seq-len", "8", "--out", "run"}).code, 0);
  EXPECT_EQ(json::parse(test::text_of(at("run/run.json"))).at("options").at("data"), json::array({"one, two.txt"}));
  const Ended measured = run({"eval", "run", "--data", "one, two.txt", "--json"});
  ASSERT_EQ(measured.code, 0) << measured.err;
  EXPECT_EQ(json::parse(measured.out).at("labels"), 1299);
  const Ended both = run({"eval", "run", "--data", "one, two.txt", "--data", "three.txt,three.txt", "--json"});
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_EQ(json::parse(both.out).at("labels"), 1299 + 1600);
}

TEST_F(Folders, SeveralFilesFollowDataOneByOneRepeatedOrWithCommas) {
  for (const char* name : {"a.txt", "b.txt", "c.txt"}) folder.write(name, repeated("abcdefg hijk\n", 100));
  const json all = json::array({"a.txt", "b.txt", "c.txt"});
  int number = 0;
  for (const std::vector<std::string>& spelled : {std::vector<std::string>{"--data", "a.txt", "b.txt", "c.txt"},
                                                  {"--data", "a.txt", "--data", "b.txt,c.txt"},
                                                  {"--data", "a.txt,b.txt,c.txt"}}) {
    const std::string out = "run" + std::to_string(number++);
    std::vector<std::string> arguments = spelled;
    arguments.insert(arguments.end(), {"--seq-len", "8", "--out", out});
    ASSERT_EQ(train(arguments).code, 0);
    EXPECT_EQ(json::parse(test::text_of(at(out) / "run.json")).at("options").at("data"), all);
  }
}

TEST_F(Folders, AModelsConfigIsAFileOfOptionsForAnother) {
  folder.write("text", repeated("abcdefg hijk\n", 100));
  ASSERT_EQ(train({"--data", "text", "--seq-len", "8", "--arrangement", "post-ln", "--out", "first"}).code, 0);
  const Ended second =
      run({"train", "--quiet", "--config", "first/config.json", "--data", "text", "--steps", "3", "--out", "second"});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(test::text_of(at("second/config.json")), test::text_of(at("first/config.json")));
}

TEST_F(Folders, ALimitOfFileSizesIsADiskThatIsFull) {
  folder.write("text", repeated("abcdefg hijk\n", 100));
  const auto limited = [] {
    const rlimit most{.rlim_cur = 20000, .rlim_max = 20000};
    setrlimit(RLIMIT_FSIZE, &most);
  };
  const Ended ended = train({"--data", "text", "--seq-len", "8", "--d-model", "64", "--out", "run"}, limited);
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("File too large"), std::string::npos) << ended.err;
  for (const auto& entry : fs::recursive_directory_iterator(at("run")))
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
}

TEST_F(Folders, WhatATokenizerDoesNotKnowIsCounted) {
  folder.write("words/tokenizer.json", R"({"model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "a": 1, "b": 2}}, "pre_tokenizer": {"type": "Whitespace"}})");
  folder.write("text", repeated("a b a z\n", 100));
  const Ended ended = run({"train", "--layers", "1", "--d-model", "16", "--seq-len", "8", "--steps", "2", "--data", "text",
                           "--tokenizer", "words", "--out", "run"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("100 tokens of 400"), std::string::npos) << ended.err;
  const Ended asked = run({"generate", "run", "--prompt", "a z", "--max-tokens", "3"});
  EXPECT_NE(asked.err.find("--prompt has parts that the model's tokenizer does not know"), std::string::npos) << asked.err;
}

TEST_F(Folders, ANameIsThatOfOneFolder) {
  for (const char* name : {"..", ".", "a/b", "/tmp"}) {
    const Ended refused = train({"--name", name});
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("--name is '"), std::string::npos) << refused.err;
  }
}

// Without a cache folder ids are kept in the folder of the run, which is made before the run is known to be possible.
TEST_F(Folders, WhatIsRefusedLeavesNothingAlsoWithoutACacheFolder) {
  const auto without_cache = [] {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
  };
  folder.write("text.txt", repeated("abcdefg hijk\n", 100));
  fs::create_directory(at("empty"));
  for (const char* out : {"runs/deep/one", "empty"}) {
    const Ended refused = train({"--data", "text.txt", "--d-model", "65536", "--heads", "1", "--out", out}, without_cache);
    EXPECT_EQ(refused.code, 1);
    EXPECT_NE(refused.err.find("memory"), std::string::npos) << refused.err;
    EXPECT_FALSE(fs::exists(at("runs")));
    EXPECT_TRUE(fs::is_empty(at("empty")));
  }
  ASSERT_EQ(train({"--data", "text.txt", "--out", "runs/one"}, without_cache).code, 0);
  EXPECT_TRUE(fs::exists(at("runs/one/model.safetensors")));
  const auto ids = [&] {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(at("runs/one"))) count += entry.path().extension() == ".tokens";
    return count;
  };
  EXPECT_EQ(ids(), 1u);
  EXPECT_EQ(train({"--data", "text.txt", "--out", "runs/one"}, without_cache).code, 2);  // has a run already
  EXPECT_EQ(ids(), 1u);
}

}  // namespace
}  // namespace addnorm
