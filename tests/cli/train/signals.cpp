// T-03: signals in every phase of a training, and a terminal that is closed.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>

#include <fstream>

#include "addnorm/core/error.h"
#include "cli/train/tiny_training.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::Ended;
using test::kSoon;
using test::number_behind;
using test::Process;

constexpr std::pair<int, int> kSignals[] = {{SIGINT, 130}, {SIGTERM, 143}};

struct Signals : test::TinyTraining {
  /// Sends the signal and expects the end that belongs to it, in time: `step` seconds are allowed for a step that is to be done.
  static Ended ended_by(const Process& process, int number, int code, double step = 0) {
    const auto asked = std::chrono::steady_clock::now();
    process.send(number);
    Ended ended = process.end();
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_LT(std::chrono::steady_clock::now() - asked, kSoon + std::chrono::duration<double>(step)) << ended.err;
    return ended;
  }
  /// The process has the file open. False: it has ended, or never opens it.
  static bool has_open(const Process& process, const fs::path& file) {
    for (int i = 0; i < 6000; ++i) {
      std::error_code gone;
      for (fs::directory_iterator at(concat("/proc/", process.pid(), "/fd"), gone), end; !gone && at != end; at.increment(gone))
        if (std::error_code closed; fs::read_symlink(at->path(), closed) == file) return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }
  fs::path write(const std::string& name, const std::string& line) const {
    std::ofstream file(at(name), std::ios::binary);
    std::string block;
    while (!line.empty() && block.size() < std::size_t{1} << 20) block += line;
    for (int i = 0; i < 128; ++i) file << block;
    file.close();
    if (line.empty()) fs::resize_file(at(name), std::uint64_t{16} << 30);
    return at(name);
  }
  /// The longest step that a run has done.
  double longest_step(const std::string& name) const {
    std::ifstream metrics(at(name) / "metrics.jsonl");
    double longest = 0;
    for (std::string line; std::getline(metrics, line);)
      if (const auto found = line.find("\"seconds\":"); found != std::string::npos)
        longest = std::max(longest, std::stod(line.substr(found + 10)));
    return longest;
  }
};

// Each of these files takes far longer to read than a signal may take to be heard.
TEST_F(Signals, T03AreHeardWhileDataIsRead) {
  struct Kind {
    const char *model, *line;  // "": zeros, which take no room on the disk
  };
  for (const Kind& kind : {Kind{"lm", ""}, {"seq2seq", "a\tb\n"}, {"classifier", "0\tb\n1\tb\n"}, {"mlp", "0,1\n1,0\n"}}) {
    SCOPED_TRACE(kind.model);
    const fs::path data = write("data", kind.line);
    std::vector<std::string> arguments{"train", "--threads", "2", "--out", "run", "--model", kind.model, "--data", data.string()};
    if (std::string(kind.model) != "mlp") arguments.insert(arguments.end(), {"--tokenizer", "bytes"});
    for (const auto& [number, code] : kSignals) {
      const Process process(folder.path, arguments);
      ASSERT_TRUE(has_open(process, data)) << process.said();
      std::this_thread::sleep_for(100ms);
      const Ended ended = ended_by(process, number, code);
      EXPECT_NE(ended.err.find("before a step was done"), std::string::npos) << ended.err;
      EXPECT_FALSE(fs::exists(at("run")));
      for (const auto& entry : fs::recursive_directory_iterator(at("addnorm"))) ADD_FAILURE() << "is left: " << entry.path();
    }
    fs::remove(data);
  }
}

// The line of a step is written when it is done: what follows is the next one.
TEST_F(Signals, T03AStepIsFinishedAndSaved) {
  for (const auto& [number, code] : kSignals) {
    const std::string name = concat("run", code);
    const Process process(folder.path, tiny({"--steps", "1000000", "--layers", "2", "--d-model", "128", "--seq-len", "64",
                                             "--batch-size", "64", "--out", name}));
    ASSERT_TRUE(process.wait_for("\n      2 ")) << process.said();
    const Ended ended = ended_by(process, number, code, longest_step(name));
    const std::int64_t step = number_behind(ended.err, "stopped by a signal after step ");
    EXPECT_GE(step, 2);
    EXPECT_EQ(saved(name), step);
  }
}

// A measurement that would take hours is left; the step before it is saved.
TEST_F(Signals, T03AMeasurementIsLeft) {
  for (const auto& [number, code] : kSignals) {
    const std::string name = concat("run", code);
    const Process process(folder.path,
                          tiny({"--steps", "1000000", "--eval-every", "1", "--eval-samples", "100000000", "--out", name}));
    ASSERT_TRUE(process.wait_for("\n      1 ")) << process.said();
    std::this_thread::sleep_for(100ms);
    const Ended ended = ended_by(process, number, code);
    EXPECT_EQ(number_behind(ended.err, "stopped by a signal after step "), 1) << ended.err;
    EXPECT_EQ(ended.err.find("validation,"), std::string::npos) << ended.err;
    EXPECT_EQ(saved(name), 1);
  }
}

// The system itself sends SIGHUP, and whatever is written from then on fails.
TEST_F(Signals, T03ATerminalThatIsClosedEndsItWithACheckpoint) {
  int terminal = -1, process_end = -1;
  ASSERT_EQ(openpty(&terminal, &process_end, nullptr, nullptr, nullptr), 0);
  const Process process(folder.path, tiny({"--steps", "1000000", "--out", "run"}), "/dev/null", [&] {
    close(terminal);
    setsid();
    ioctl(process_end, TIOCSCTTY, 0);
    for (const int fd : {0, 1, 2}) dup2(process_end, fd);
    close(process_end);
  });
  close(process_end);
  std::string output;
  char block[4096];
  for (ssize_t count; output.find("\n      3 ") == std::string::npos && (count = read(terminal, block, sizeof block)) > 0;)
    output.append(block, static_cast<std::size_t>(count));
  ASSERT_NE(output.find("\n      3 "), std::string::npos) << output;
  const auto closed = std::chrono::steady_clock::now();
  close(terminal);
  const Ended ended = process.end();
  EXPECT_EQ(ended.code, 129);
  EXPECT_LT(std::chrono::steady_clock::now() - closed, kSoon);
  EXPECT_GE(saved("run"), 3);
  EXPECT_TRUE(fs::exists(at("run/model.safetensors")));
  const Process again(folder.path, tiny({"--steps", "1000000", "--out", "run", "--resume"}));
  EXPECT_TRUE(again.wait_for("resumed after step")) << again.said();
}

}  // namespace
}  // namespace addnorm
