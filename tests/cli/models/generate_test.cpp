// addnorm generate as a process: what it writes, what it refuses, how it ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/process.h"

namespace addnorm {
namespace {

using test::Ended;
using test::Process;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Three runs: `text` continues text, `pairs` (seq2seq) and `answers` (lm) answer sources.
struct GenerateCommand : testing::Test {
  static void SetUpTestSuite() {
    folder = std::make_unique<test::TemporaryFolder>();
    std::string text;
    for (int i = 0; i < 300; ++i) text += "abcdefg hijk\n";
    folder->write("text.txt", text);
    train({"--data", "text.txt", "--seq-len", "16", "--out", "text"});
    train({"--model", "seq2seq", "--task", "reverse", "--out", "pairs"});
    train({"--task", "reverse", "--out", "answers"});
  }
  static void TearDownTestSuite() { folder.reset(); }
  static void train(const std::vector<std::string>& more) {
    std::vector<std::string> all{"train",   "--layers", "1",       "--d-model", "16",   "--heads",      "2",
                                 "--steps", "20",       "--quiet", "--lr",      "0.01", "--batch-size", "8"};
    all.insert(all.end(), more.begin(), more.end());
    const Ended ended = Process(folder->path, all).end();
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out + ended.err, "");  // --quiet
  }
  static Ended generate(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "generate");
    return Process(folder->path, std::move(arguments)).end();
  }
  static std::string written(const std::vector<std::string>& arguments) {
    const Ended ended = generate(arguments);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  }
  static std::unique_ptr<test::TemporaryFolder> folder;
};
std::unique_ptr<test::TemporaryFolder> GenerateCommand::folder;

TEST_F(GenerateCommand, TheTightestCutsAreGreedyAndSeedsAreRepeated) {
  const std::vector<std::string> start{"text", "--prompt", "abc", "--max-tokens", "30"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), start.begin(), start.end());
    return written(more);
  };
  const std::string greedy = with({"--temperature", "0"});
  EXPECT_TRUE(greedy.starts_with("abc")) << greedy;
  EXPECT_EQ(greedy.size(), 3 + 30u);  // a file gets the text and nothing else
  EXPECT_EQ(with({"--top-k", "1"}), greedy);
  EXPECT_EQ(with({"--top-p", "0.0001", "--seed", "3"}), greedy);
  const std::string hot = with({"--temperature", "3", "--seed", "3"});
  EXPECT_NE(hot, greedy);
  EXPECT_EQ(with({"--temperature", "3", "--seed", "3"}), hot);
  EXPECT_NE(with({"--temperature", "3", "--seed", "4"}), hot);
  EXPECT_EQ(written({"text", "--start", "abc", "--max_new_tokens=30", "--temperature", "0"}), greedy);  // nanoGPT's words
}

TEST_F(GenerateCommand, SeveralTextsAreSeparatedAndTheFirstIsThatOfOne) {
  const std::string one = written({"text", "--prompt", "abc", "--max-tokens", "8", "--temperature", "2"});
  const std::string three = written({"text", "--prompt", "abc", "--max-tokens", "8", "--temperature", "2", "--n", "3"});
  EXPECT_TRUE(three.starts_with(one + "\n---\nabc")) << three;
  const auto lines = lines_of(three);
  EXPECT_EQ(std::ranges::count(lines, "---"), 2) << three;
}

TEST_F(GenerateCommand, WithoutAPromptItSaysWhereItBeginsAndPrintsOnlyWhatItWrote) {
  const Ended none = generate({"text", "--max-tokens", "9"}), empty = generate({"text", "--prompt", "", "--max-tokens", "9"});
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_EQ(none.out.size(), 9u) << none.out;
  EXPECT_EQ(empty.out, none.out);
  EXPECT_NE(empty.err.find("no --prompt: it begins at the start of a line\n"), std::string::npos) << empty.err;
  EXPECT_EQ(written({"text", "--max-tokens", "0"}), "");
  EXPECT_EQ(written({"text", "--prompt", "abc", "--max-tokens", "0"}), "abc");
}

TEST_F(GenerateCommand, AnswersSourcesGreedilyByBeamsOrDrawn) {
  for (const char* run : {"pairs", "answers"}) {
    const std::string greedy = written({run, "--source", "abc"});
    EXPECT_EQ(lines_of(greedy).size(), 1u) << greedy;
    EXPECT_EQ(written({run, "--source", "abc", "--beams", "1"}), greedy);
    const auto best = lines_of(written({run, "--source", "abc", "--beams", "4", "--n", "2"}));
    ASSERT_EQ(best.size(), 2u);
    EXPECT_NE(best[0], best[1]);
    EXPECT_EQ(lines_of(written({run, "--source", "abc", "--beams", "4"})), (std::vector{best[0]}));
    EXPECT_EQ(lines_of(written({run, "--source", "abc", "--temperature", "2", "--n", "3", "--top-k", "5"})).size(), 3u);
    EXPECT_EQ(written({run, "--source", "abc", "--max-tokens", "0"}), "\n");
    EXPECT_LE(written({run, "--source", "abc", "--max-tokens", "2"}).size(), 3u);
  }
}

TEST_F(GenerateCommand, OptionsOfDrawingWithoutEffectGiveANoteAndAreTaken) {
  const std::string greedy = written({"text", "--prompt", "abc", "--max-tokens", "8", "--temperature", "0"});
  const Ended all = generate({"text", "--prompt", "abc", "--max-tokens", "8", "--temperature", "0", "--top-k", "3", "--n", "2"});
  EXPECT_EQ(all.code, 0);
  EXPECT_EQ(all.out, greedy + "\n---\n" + greedy + "\n");
  EXPECT_NE(all.err.find("--top-k has no effect at --temperature 0\n"), std::string::npos) << all.err;
  EXPECT_NE(all.err.find("all answers are the same"), std::string::npos) << all.err;
  const Ended pairs = generate({"pairs", "--source", "abc", "--seed", "2"});
  EXPECT_EQ(pairs.code, 0);
  EXPECT_NE(pairs.err.find("--seed has no effect at --temperature 0, which pairs have"), std::string::npos) << pairs.err;
  EXPECT_EQ(written({"text", "--prompt", "abc", "--top-k", "0"}), written({"text", "--prompt", "abc"}));
}

TEST_F(GenerateCommand, TextsComeAsJsonWhereAskedFor) {
  const std::vector<std::string> ask{"text", "--prompt", "abc", "--max-tokens", "8", "--n", "2", "--seed", "3"};
  std::vector<std::string> as_json = ask;
  as_json.emplace_back("--json");
  const nlohmann::json all = nlohmann::json::parse(written(as_json));
  EXPECT_EQ(all["prompt"], "abc");
  EXPECT_EQ(all["texts"][0].get<std::string>() + "\n---\n" + all["texts"][1].get<std::string>() + "\n", written(ask));
  const nlohmann::json answers =
      nlohmann::json::parse(written({"pairs", "--source", "abc", "--beams", "3", "--n", "2", "--json"}));
  EXPECT_EQ(answers["texts"].size(), 2u);
  EXPECT_EQ(answers["source"], "abc");
}

TEST_F(GenerateCommand, RefusesWhatCannotBeBeforeAnythingIsPrinted) {
  for (const auto& [arguments, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "which run?"},
           {{"text", "--temperature", "-1"}, "--temperature is -1; it must be 0"},
           {{"text", "--top-p", "1.5"}, "--top-p is 1.5; it must be above 0 and at most 1"},
           {{"text", "--top-p", "0"}, "--top-p is 0;"},
           {{"text", "--n", "0"}, "--n is 0;"},
           {{"text", "--threads", "-1"}, "--threads is -1;"},
           {{"text", "--weights", "newest"}, "--weights is 'newest'; it must be best or last"},
           {{"text", "--source", "abc"}, "--source is for models of pairs; text continues a --prompt"},
           {{"text", "--prompt", "abc", "--source", "abc"}, "--prompt and --source are both given"},
           {{"text", "--prompt", "XYZ"}, "--prompt: "},
           {{"text", "--beams", "3"}, "--beams is for models of pairs"},
           {{"pairs"}, "pairs was trained on pairs: give it a --source"},
           {{"pairs", "--prompt", "abc"}, "--prompt is for models of text; pairs was trained on pairs and takes a --source"},
           {{"pairs", "--source", ""}, "--source is empty"},
           {{"pairs", "--source", "abc", "--beams", "0"}, "--beams is 0;"},
           {{"pairs", "--source", "abc", "--beams", "2", "--n", "3"}, "--n is 3; with --beams 2 it must be 1 ... 2"},
           {{"pairs", "--source", "abc", "--beams", "2", "--temperature", "1"}, "--temperature has no effect with --beams"},
           {{"pairs", "--source", std::string(500, 'a')}, "--source has 500 tokens; this model takes at most "}}) {
    const Ended ended = generate(arguments);
    EXPECT_EQ(ended.code, 2) << message;
    EXPECT_EQ(ended.out, "");
    EXPECT_NE(ended.err.find("addnorm generate: " + message), std::string::npos) << message << "\n" << ended.err;
    EXPECT_LE(std::ranges::count(ended.err, '\n'), 3) << ended.err;
  }
  EXPECT_EQ(generate({"nowhere"}).code, 1);  // not there is a failure
  EXPECT_EQ(generate({"text", "--weights", "last", "--max-tokens", "1"}).code, 0);
}

// A million tokens take minutes: what is read comes while they are written, and nothing but the reader ends it.
TEST_F(GenerateCommand, WritesAsItGoesAndEndsQuietlyWithItsReader) {
  const std::string command = "cd '" + folder->path.string() + "' && { '" + ADDNORM_TOOL +
                              "' generate text --prompt abc --max-tokens 1000000 2>err.txt; echo $? >code.txt; } | head -c 40";
  FILE* const pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string read(40, '\0');
  read.resize(fread(read.data(), 1, read.size(), pipe));
  pclose(pipe);
  EXPECT_TRUE(read.starts_with("abc") && read.size() == 40) << read;
  EXPECT_EQ(test::text_of(folder->path / "code.txt"), "141\n");  // as SIGPIPE would
  EXPECT_EQ(test::text_of(folder->path / "err.txt").find("addnorm"), std::string::npos);
}

TEST_F(GenerateCommand, ASignalEndsItWithItsCode) {
  const Process process(folder->path, {"generate", "text", "--prompt", "abc", "--max-tokens", "100000000"});
  for (int i = 0; i < 1000 && test::text_of(folder->path / "out.txt").size() < 20; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  process.send(SIGINT);
  EXPECT_EQ(process.end().code, 130);
}

}  // namespace
}  // namespace addnorm
