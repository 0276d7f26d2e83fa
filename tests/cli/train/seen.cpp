// What a person sees of a training, in a pipe and on a terminal, and where it goes.
#include <gtest/gtest.h>
#include <pty.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <sstream>
#include <tuple>

#include "addnorm/data/language.h"
#include "cli/train/tiny_training.h"
#include "core/json/json.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::Ended;
using test::number_behind;
using test::Process;

struct TrainingSeen : test::TinyTraining {};

/// The lines of steps: the words of each.
std::vector<std::vector<std::string>> rows_of(const std::string& output) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words.size() > 4 && words[0].find_first_not_of("0123456789") == std::string::npos &&
        words[1].find('.') != std::string::npos && line.find("valid") == std::string::npos)  // neither a plan's second line
      rows.push_back(words);
  }
  return rows;
}

TEST_F(TrainingSeen, ProbesLeaveTheModelAloneAndTheirRecordsInTheFolder) {
  for (const char* level : {"off", "on", "full"}) {
    const Ended ended = run(tiny({"--steps", "5", "--probes", level, "--probe-every", "3", "--out", level}));
    ASSERT_EQ(ended.code, 0) << ended.err;
    const bool off = std::string(level) == "off";
    EXPECT_EQ(ended.err.find("probes: every 3 steps") == std::string::npos, off) << ended.err;
    EXPECT_EQ(fs::exists(at(level) / "probes.jsonl"), !off);
  }
  EXPECT_EQ(test::text_of(at("off/model.safetensors")), test::text_of(at("full/model.safetensors")));
  EXPECT_EQ(test::text_of(at("off/model.safetensors")), test::text_of(at("on/model.safetensors")));
  std::istringstream lines(test::text_of(at("full/probes.jsonl")));
  std::vector<std::int64_t> steps;
  for (std::string line; std::getline(lines, line);) {
    steps.push_back(number_behind(line, "\"step\":"));
    EXPECT_NE(line.find("\"lens_loss\""), std::string::npos) << line;
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST_F(TrainingSeen, ColumnsStayApartWhereALossFillsItsOwn) {
  const Ended ended =
      run(tiny({"--steps", "4", "--eval-every", "2", "--embedding-std", "99", "--lr", "1e-9", "--log-every", "1"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::size_t full = 0;
  std::istringstream lines(ended.err);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string step, loss;
    in >> step >> loss;
    if (step.size() == 1 && step >= "1" && step <= "4" && loss.find('.') == 4) ++full;  // 1186.8978
  }
  EXPECT_EQ(full, 6u) << ended.err;  // four steps, two validations
}

TEST_F(TrainingSeen, AVanishingGradientEndsInZerosNotInDenormals) {
  const Ended ended = run({"train", "--arrangement", "plain", "--init",    "gpt2", "--layers",     "24", "--d-model",
                           "16",    "--heads",       "1",     "--seq-len", "8",    "--batch-size", "2",  "--steps",
                           "1",     "--probes",      "on",    "--out",     "deep"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json line = parsed(test::text_of(at("deep/probes.jsonl")), "probes.jsonl");
  std::size_t zeros = 0;
  for (const Json& norm : line.at("stacks")[0].at("gradient_norm").array_items()) {
    zeros += norm.number() == 0;
    EXPECT_TRUE(norm.number() == 0 || norm.number() >= std::numeric_limits<float>::min()) << norm.dump();
  }
  EXPECT_GT(zeros, 0u);
}

TEST_F(TrainingSeen, APipeSeesPlainLinesOfTheFirstTheLastAndEveryIntervalsStep) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "abcdefg hijk\n";
  folder.write("text.txt", text);
  for (const bool language : {true, false}) {
    std::vector<std::string> more{"--steps", "10", "--log-every", "4", "--out", language ? "language" : "text"};
    if (!language) more.insert(more.end(), {"--data", "text.txt"});
    const Ended ended = run(tiny(more));
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.err.find_first_of("\r\x1b"), std::string::npos) << ended.err;
    for (const char* title : {" step", " loss", " lr", " |grad|", " tok/s", " of peak", " left\n"})
      EXPECT_NE(ended.err.find(title), std::string::npos) << title << "\n" << ended.err;
    const auto rows = rows_of(ended.err);
    ASSERT_EQ(rows.size(), 4u) << ended.err;
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(rows[i][0], std::vector<std::string>({"1", "4", "8", "10"})[i]);
    const double loss = std::stod(rows[3][1]), next = std::stod(rows[3][2]);  // printed with four digits
    if (language) {
      EXPECT_NEAR(next, loss - Language().baselines(16).floor, 2e-4) << ended.err;
      EXPECT_NEAR(std::stod(rows[3][3]), std::exp(loss), 0.01 * std::exp(loss)) << ended.err;
    } else {
      EXPECT_NEAR(next, loss / std::numbers::ln2, 2e-4) << ended.err;  // one byte per letter
    }
    EXPECT_EQ(rows[3].back(), "0:00");
    EXPECT_NE(test::text_of(at(language ? "language" : "text") / "metrics.jsonl").find("\"step\":10"), std::string::npos);
  }
}

TEST_F(TrainingSeen, ATerminalSeesABarBelowTheLinesThatIsGoneInTheEnd) {
  int terminal = -1, process_end = -1;
  ASSERT_EQ(openpty(&terminal, &process_end, nullptr, nullptr, nullptr), 0);
  const Process process(folder.path, tiny({"--steps", "10", "--log-every", "5", "--out", "run"}), "/dev/null",
                        [&] { dup2(process_end, 2); });
  close(process_end);
  std::string output;
  char block[4096];
  for (ssize_t count; (count = read(terminal, block, sizeof block)) > 0;) output.append(block, static_cast<std::size_t>(count));
  close(terminal);
  ASSERT_EQ(process.end().code, 0) << output;
  const std::string wiped = "\r\x1b[K";
  const std::size_t bar = output.find("\r[");  // after the first step of ten: 2 of 24 signs
  ASSERT_NE(bar, std::string::npos) << output;
  EXPECT_EQ(output.substr(bar, 28), "\r[##" + std::string(22, '-') + "] ") << output;
  EXPECT_NE(output.find("1/10, "), std::string::npos) << output;
  const std::size_t last_bar = output.rfind("\r["), last_wipe = output.rfind(wiped);
  EXPECT_GT(last_wipe, last_bar) << output;
  for (std::size_t at_bar = output.find("\r["); at_bar != std::string::npos; at_bar = output.find("\r[", at_bar + 1)) {
    const std::size_t line_end = output.find('\n', at_bar), other = output.find('\r', at_bar + 1);
    EXPECT_LT(other, line_end) << "a line was written after a bar: " << output.substr(at_bar, 100);
  }
  std::string plain;  // what a terminal shows in the end: of what was wiped, nothing
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (output.compare(i, wiped.size(), wiped) == 0) {
      plain.erase(plain.rfind('\n') + 1);
      i += wiped.size() - 1;
    } else if (output[i] == '\r' && output[i + 1] == '[') {
      plain.erase(plain.rfind('\n') + 1);
    } else if (output[i] != '\r') {
      plain += output[i];
    }
  }
  const auto rows = rows_of(plain);
  ASSERT_EQ(rows.size(), 3u) << plain;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(rows[i][0], std::vector<std::string>({"1", "5", "10"})[i]);
  EXPECT_EQ(plain.find("/10, "), std::string::npos) << plain;
}

TEST_F(TrainingSeen, RunsGoToTheirOwnFoldersBelowRunsAndAConfigFileGivesOptions) {
  folder.write("book.txt", std::string(3000, 'a') + std::string(3000, 'b'));
  const auto record = [&](const std::string& name) { return test::text_of(at("runs") / name / "run.json"); };
  ASSERT_EQ(run(tiny({"--steps", "1"})).code, 0);
  ASSERT_EQ(run(tiny({"--steps", "1", "--layers", "1"})).code, 0);
  ASSERT_EQ(run(tiny({"--steps", "1", "--data", "book.txt"})).code, 0);
  for (const char* name : {"lm", "lm-2", "book"}) {
    EXPECT_TRUE(fs::exists(at("runs") / name / "model.safetensors")) << name;
    EXPECT_EQ(number_behind(record(name), "\"d_model\": "), 16) << record(name);
    EXPECT_EQ(number_behind(record(name), "\"seed\": "), 5);
  }
  EXPECT_EQ(number_behind(record("lm"), "\"layers\": "), 2);
  EXPECT_EQ(number_behind(record("lm-2"), "\"layers\": "), 1);  // the command line goes first
  folder.write("bad.json", R"({"layers": 2, "lyers": 3})");
  const Ended bad = run({"train", "--config", "bad.json"});
  EXPECT_TRUE(bad.code == 1 || bad.code == 2);
  for (const char* part : {"bad.json", "lyers", "layers"}) EXPECT_NE(bad.err.find(part), std::string::npos) << bad.err;
}

/// "21.3k" -> 21300.
double short_number(const std::string& text) {
  const double factor = text.back() == 'k' ? 1e3 : text.back() == 'M' ? 1e6 : text.back() == 'G' ? 1e9 : 1;
  return std::stod(text) * factor;
}

// A masked language model predicts a part of what it reads, pairs have two sides, and padding is no token.
TEST_F(TrainingSeen, TokensPerSecondAreAllThatGoThroughTheModel) {
  std::string text, pairs;
  for (int i = 0; i < 300; ++i) text += "abcdefg hijk\n";
  for (int i = 0; i < 50; ++i) pairs += "ab\tcdefg\nabcdef\tc\n";  // 2 and 6 tokens; with the begin token 6 and 2
  folder.write("text.txt", text);
  folder.write("pairs.tsv", pairs);
  for (const auto& [model, data, tokens] :
       {std::tuple{"encoder", "text.txt", 64}, {"lm", "text.txt", 64}, {"seq2seq", "pairs.tsv", 32}}) {
    const Ended ended = run(tiny({"--model", model, "--data", data, "--steps", "3", "--out", model}));
    ASSERT_EQ(ended.code, 0) << ended.err;
    const auto rows = rows_of(ended.err);
    ASSERT_EQ(rows.size(), 3u) << ended.err;
    std::istringstream metrics(test::text_of(at(model) / "metrics.jsonl"));
    for (const auto& row : rows) {
      std::string line;
      ASSERT_TRUE(std::getline(metrics, line));
      EXPECT_EQ(number_behind(line, "\"tokens\":"), tokens) << line;
      EXPECT_LE(number_behind(line, "\"labels\":"), tokens) << line;
      const double seconds = std::stod(line.substr(line.find("\"seconds\":") + 10));
      const double shown = short_number(row[row.size() - 4]);       // before "of peak", which is two words, and "left"
      EXPECT_NEAR(shown * seconds / tokens, 1, 0.01) << ended.err;  // printed with three digits
    }
  }
}

// `addnorm train` alone: its sizes are those of the plan, its data the built-in language. Ended after the first steps.
TEST_F(TrainingSeen, WithoutOptionsItTrainsOnTheBuiltInLanguageInRuns) {
  const Process process(folder.path, {"train"});
  ASSERT_TRUE(process.wait_for(" left\n")) << process.said();
  std::this_thread::sleep_for(100ms);
  process.send(SIGTERM);
  EXPECT_EQ(process.end().code, 143);
  EXPECT_TRUE(fs::exists(at("runs/lm/run.json")));
  EXPECT_GT(saved("runs/lm"), 0);
}

}  // namespace
}  // namespace addnorm
