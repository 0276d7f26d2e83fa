// The training commands as processes: signals, exit codes, what is said where.
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "cli/process.h"
#include "support/folder.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

using test::Ended;
using test::Process;

struct TrainCommand : testing::Test {
  /// A small model that neither measures nor saves by itself, unless `more` says so.
  std::vector<std::string> tiny(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"train", "--threads", "2"};
    const std::vector<std::pair<std::string, std::string>> defaults{
        {"--layers", "2"},   {"--d-model", "16"},         {"--heads", "2"},
        {"--seq-len", "16"}, {"--batch-size", "4"},       {"--log-every", "1"},
        {"--seed", "5"},     {"--save-every", "1000000"}, {"--eval-every", "1000000"}};
    for (const auto& [name, value] : defaults)
      if (std::ranges::find(more, name) == more.end()) all.insert(all.end(), {name, value});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Ended run(std::vector<std::string> arguments, const std::string& input = "/dev/null") const {
    return Process(folder.path, std::move(arguments), input).end();
  }
  test::TemporaryFolder folder;
};

// T-03. The number of steps is out of reach: only the signal ends it.
TEST_F(TrainCommand, T03SignalsEndWithTheirCodeAndAStateThatGoesOn) {
  for (const auto& [number, code] : {std::pair{SIGINT, 130}, {SIGTERM, 143}, {SIGHUP, 129}}) {
    const std::string name = "run" + std::to_string(code);
    const Process process(folder.path, tiny({"--steps", "100000000", "--out", name}));
    ASSERT_TRUE(process.wait_for("\n      3 ")) << process.said();
    const auto asked = std::chrono::steady_clock::now();
    process.send(number);
    const Ended ended = process.end();
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_FALSE(ended.by_signal);
    EXPECT_LT(std::chrono::steady_clock::now() - asked, 2s);
    EXPECT_NE(ended.err.find("--resume"), std::string::npos) << ended.err;
    EXPECT_TRUE(fs::exists(folder.path / name / "model.safetensors"));
    const std::int64_t step = test::number_behind(ended.err, "stopped by a signal after step ");
    EXPECT_GE(step, 3);
    const Process again(folder.path, tiny({"--steps", "100000000", "--out", name, "--resume"}));
    EXPECT_TRUE(again.wait_for("resumed after step")) << again.said();
    EXPECT_TRUE(again.wait_for("\n" + std::string(7 - std::to_string(step + 1).size(), ' ') + std::to_string(step + 1) + " "));
    EXPECT_EQ(test::number_behind(again.said(), "resumed after step "), step) << again.said();
    again.send(SIGTERM);
    EXPECT_EQ(again.end().code, 143);
  }
}

TEST_F(TrainCommand, T03ASignalBeforeTheFirstStepOrInMeasuringEndsItToo) {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "line " + std::to_string(i) + " of a text that takes a while to read\n";
  folder.write("text.txt", text);
  for (const auto wait : {0ms, 60ms, 150ms, 300ms, 600ms}) {
    const Process process(folder.path, tiny({"--steps", "100000000", "--eval-every", "1", "--data", "text.txt", "--out",
                                             "r" + std::to_string(wait.count())}));
    ASSERT_TRUE(process.wait_until_it_listens());
    std::this_thread::sleep_for(wait);
    const auto asked = std::chrono::steady_clock::now();
    process.send(SIGTERM);
    const Ended ended = process.end();
    EXPECT_EQ(ended.code, 143) << wait.count();  // its own: ended by the signal itself it would be -15
    EXPECT_LT(std::chrono::steady_clock::now() - asked, test::kSoon) << wait.count();
  }
}

TEST_F(TrainCommand, TrainsOnTheStandardInputAndWritesSamplesToStdout) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "abcdefg hijk\n";
  const Ended ended = run(tiny({"--steps", "20", "--data", "-", "--out", "run"}), folder.write("text.txt", text).string());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_FALSE(ended.out.empty());
  const Ended one = run({"generate", "run", "--prompt", "abc", "--max-tokens", "40", "--seed", "9"});
  const Ended two = run({"generate", "run", "--prompt", "abc", "--max-tokens", "40", "--seed", "9"});
  const Ended other = run({"generate", "run", "--prompt", "abc", "--max-tokens", "40", "--seed", "10"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.out.substr(0, 3), "abc");
  EXPECT_EQ(one.out.size(), 43u);  // prompt and forty letters: what is no terminal gets the text alone
  EXPECT_EQ(one.out, two.out);
  EXPECT_NE(one.out, other.out);
  const Ended measured = run({"eval", "run", "--data", "text.txt", "--json"});
  EXPECT_EQ(measured.code, 0) << measured.err;
  EXPECT_NE(measured.out.find("\"bits_per_byte\""), std::string::npos);
}

TEST_F(TrainCommand, WhatIsPrintedAndMeasuredMayChangeOnResumeAndWhatIsLearnedMayNot) {
  const Ended begun = run(tiny({"--steps", "4", "--schedule", "constant", "--eval-samples", "8", "--out", "run"}));
  ASSERT_EQ(begun.code, 0) << begun.err;
  const Ended more = run({"train", "--out", "run", "--resume", "--steps", "8", "--eval-samples", "12", "--eval-every", "2",
                          "--log-every", "3", "--keep", "3", "--save-every", "2"});
  ASSERT_EQ(more.code, 0) << more.err;
  const std::string metrics = test::text_of(folder.path / "run/metrics.jsonl");
  EXPECT_NE(metrics.find("\"step\":4,\"validation_loss\""), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("\"step\":6,\"validation_loss\""), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("\"validation_labels\":128,"), std::string::npos) << metrics;  // 8 sequences of 16 words
  EXPECT_EQ(test::number_behind(metrics, "\"validation_labels\":"), 192) << metrics;    // 12
  EXPECT_TRUE(fs::exists(folder.path / "run/checkpoints/step-00000004.safetensors"));
  const Ended refused = run({"train", "--out", "run", "--resume", "--steps", "9", "--batch-size", "5"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--batch-size: 4 in the run, 5 now"), std::string::npos) << refused.err;
}

TEST_F(TrainCommand, TheStandardInputIsKeptForResumingAndMeasuring) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "abcdefg hijk\n";
  const std::string input = folder.write("text.txt", text).string();
  const Ended begun = run(tiny({"--steps", "10", "--data", "-", "--out", "run", "--json"}), input);
  ASSERT_EQ(begun.code, 0) << begun.err;
  EXPECT_EQ(test::text_of(folder.path / "run/input.txt"), text);
  for (const char* field : {"\"validation_bits_per_byte\":", "\"best_step\":10", "\"best_validation_loss\":", "\"seconds\":"})
    EXPECT_NE(begun.out.find(field), std::string::npos) << begun.out;
  EXPECT_EQ(begun.out.find("exact_match"), std::string::npos) << begun.out;
  fs::rename(folder.path / "run", folder.path / "moved");
  const Ended more = run({"train", "--out", "moved", "--resume", "--steps", "15", "--replan"});
  EXPECT_EQ(more.code, 0) << more.err;
  const Ended done = run({"train", "--out", "moved", "--resume"});
  EXPECT_EQ(done.code, 0);
  EXPECT_NE(done.err.find("has done all of its 15 steps"), std::string::npos) << done.err;
  EXPECT_NE(done.err.find("--replan"), std::string::npos) << done.err;
  const Ended measured = run({"eval", "moved", "--json"});
  EXPECT_EQ(measured.code, 0) << measured.err;
  EXPECT_NE(measured.out.find("\"part\":\"validation\""), std::string::npos) << measured.out;
  EXPECT_NE(measured.out.find("\"labels\":389,"), std::string::npos) << measured.out;  // a tenth of 3900 tokens
  EXPECT_EQ(measured.err.find("warning"), std::string::npos) << measured.err;
  EXPECT_NE(run({"eval", "moved"}).out.find("kept from training"), std::string::npos);
  folder.write("moved/input.txt", text + text);
  EXPECT_NE(run({"eval", "moved"}).err.find("warning: the data is not what it was"), std::string::npos);
}

TEST_F(TrainCommand, PairsEndWithSomeAnswersAndAreMeasuredByThem) {
  for (const char* model : {"seq2seq", "lm"}) {
    const Ended ended = run(tiny({"--model", model, "--task", "copy", "--seq-len", "32", "--steps", "3", "--out", model}));
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(std::ranges::count(ended.out, '>'), 4) << ended.out;
    folder.write("pairs.tsv", "abc\tabc\nfg\tfg\n");
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--data", "pairs.tsv"}}) {
      std::vector<std::string> arguments{"eval", model, "--json", "--samples", "2"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      const Ended measured = run(arguments);
      EXPECT_NE(measured.out.find("\"exact_match\""), std::string::npos) << measured.out << measured.err;
    }
  }
}

TEST_F(TrainCommand, OutputForATerminalFitsEightyColumns) {
  int terminal = -1, process_end = -1;
  ASSERT_EQ(openpty(&terminal, &process_end, nullptr, nullptr, nullptr), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(process_end, 2);
    dup2(open("/dev/null", O_WRONLY), 1);
    if (chdir(folder.path.c_str()) != 0) _exit(99);
    execl(ADDNORM_TOOL, ADDNORM_TOOL, "train", "--steps", "5", "--layers", "1", "--d-model", "16", "--heads", "1", "--out",
          "a-rather-long-name", nullptr);
    _exit(99);
  }
  close(process_end);
  std::string output(1 << 16, '\0');
  std::size_t size = 0;
  for (ssize_t count; (count = read(terminal, output.data() + size, output.size() - size)) > 0;)
    size += static_cast<std::size_t>(count);
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  output.resize(size);
  std::ranges::replace(output, '\r', '\n');  // what is written over counts by itself
  std::istringstream lines(output);
  const std::string wipe = "\x1b[K";
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 80 + (line.find(wipe) == std::string::npos ? 0 : wipe.size())) << line;
  EXPECT_NE(output.find("1 layer, "), std::string::npos) << output;
  EXPECT_NE(output.find("1 head, "), std::string::npos);
}

TEST_F(TrainCommand, T10RefusesWithNameAndRangeAndLeavesNoFiles) {
  for (const auto& [arguments, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--lr", "nan"}, "--lr"},
           {{"--lr", "-1"}, "--lr is -1"},
           {{"--batch-size", "0"}, "--batch-size"},
           {{"--seq-len", "0"}, "train: --seq-len is 0; it must be 1 ... 2147483647"},
           {{"--layers", "0"}, "train: --layers is 0; it must be 1 ... 1000000"},
           {{"--d-model", "0"}, "train: --d-model is 0; it must be 1 ... 268435456"},
           {{"--heads", "0"}, "train: --heads is 0; it must be 1 ... 268435456"},
           {{"--heads", "3", "--d-model", "64"}, "train: --heads is 3; it must divide --d-model (64), or d_head be given"},
           {{"--heads", "4", "--kv-heads", "3", "--d-model", "64"}, "train: --kv-heads is 3; it must divide --heads (4)"},
           {{"--dropout", "2"}, "train: --dropout is 2; it must be at least 0 and below 1"},
           {{"--grad-clip", "-1"}, "train: --clip-grad-norm is -1; it must be a number from 0 on"},
           {{"--beta1", "1.5"}, "train: --beta1 is 1.5; it must be from 0 to below 1"},
           {{"--optimizer", "sgd", "--nesterov", "--momentum", "0"}, "train: --nesterov without momentum has no meaning"},
           {{"--layer", "0"}, "layer"},
           {{"--unknown"}, "unknown option"},
           {{"--steps"}, "--steps"},
           {{"--data", "none.txt"}, "none.txt"},
           {{"--tokenizer", "none.json", "--data", "text.txt"}, "none.json"},
           {{"--batch-size", "100000000", "--seq-len", "1000"}, "memory"},
           {{"--resume"}, "--out"}}) {
    folder.write("text.txt", std::string(1000, static_cast<char>(120)));
    std::vector<std::string> all{"train", "--steps", "2"};
    if (arguments[0] == "--steps") all.resize(1);
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ended ended = run(all);
    EXPECT_TRUE(ended.code == 1 || ended.code == 2) << ended.code;
    EXPECT_NE(ended.err.find(message), std::string::npos) << arguments[0] << "\n" << ended.err;
    EXPECT_LT(std::ranges::count(ended.err, '\n'), 8) << ended.err;
    EXPECT_FALSE(fs::exists(folder.path / "runs")) << arguments[0];
  }
}

TEST_F(TrainCommand, AReaderThatGoesAwayDoesNotStopTraining) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    if (chdir(folder.path.c_str()) != 0) _exit(99);
    execl(ADDNORM_TOOL, ADDNORM_TOOL, "train", "--steps", "5", "--layers", "1", "--d-model", "16", "--heads", "2", "--out", "run",
          nullptr);
    _exit(99);
  }
  close(ends[1]);
  int status = 0;
  waitpid(child, &status, 0);
  // The sample at the end has nobody to read it; by then all is saved.
  EXPECT_TRUE(fs::exists(folder.path / "run/checkpoints/step-00000005.safetensors"));
  EXPECT_TRUE(fs::exists(folder.path / "run/model.safetensors"));
}

}  // namespace
}  // namespace addnorm
