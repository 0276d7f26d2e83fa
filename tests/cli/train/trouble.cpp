// The tool at awkward moments: signals while it saves and ends, kill -9, limits of memory.
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include <map>
#include <memory>

#include "cli/train/tiny_training.h"
#include "support/sanitizer.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::Ended;
using test::number_behind;
using test::Process;

struct Trouble : test::TinyTraining {
  bool being_saved(const std::string& name) const {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(at(name) / "checkpoints", ignored))
      if (entry.path().filename().string().find(".tmp.") != std::string::npos) return true;
    return false;
  }
  /// Waits for a checkpoint that is being written and halts the process there. False: it ended before.
  bool halted_while_saving(const Process& process, const std::string& name) const {
    while (true) {
      siginfo_t state{};
      waitid(P_PID, static_cast<id_t>(process.pid()), &state, WEXITED | WNOHANG | WNOWAIT);
      if (state.si_pid != 0) return false;
      if (!being_saved(name)) continue;
      process.send(SIGSTOP);
      waitid(P_PID, static_cast<id_t>(process.pid()), &state, WEXITED | WSTOPPED | WNOWAIT);
      if (state.si_code != CLD_STOPPED) return false;
      if (being_saved(name)) return true;
      process.send(SIGCONT);
    }
  }
  /// begin(i) for i = 0, 1, ... until a process is halted while it saves: a single save is over soon, and is not always seen.
  std::unique_ptr<Process> halted(const std::function<std::unique_ptr<Process>(int)>& begin, const std::string& name) const {
    for (int i = 0; i < 20; ++i) {
      auto process = begin(i);
      if (halted_while_saving(*process, name)) return process;
      process->end();
    }
    return nullptr;
  }
  /// What a resumed run says; it is ended after its first step.
  std::int64_t resumed_after(const std::string& name) const {
    const Process again(folder.path, tiny({"--steps", "1000000", "--out", name, "--resume"}));
    EXPECT_TRUE(again.wait_for(" left\n")) << again.said();
    again.send(SIGTERM);
    const Ended ended = again.end();
    EXPECT_EQ(ended.code, 143) << ended.err;
    return number_behind(ended.err, "resumed after step ");
  }
};

// T-03. Halted within a save, the process gets the signal there for certain.
TEST_F(Trouble, T03ASignalWithinASaveIsHeardWhenItIsDone) {
  for (const auto& [number, code] : {std::pair{SIGINT, 130}, {SIGTERM, 143}}) {
    const std::string name = "run" + std::to_string(code);
    const Process process(folder.path, tiny({"--steps", "1000000", "--save-every", "1", "--out", name}));
    ASSERT_TRUE(halted_while_saving(process, name)) << process.said();
    process.send(number);
    const auto asked = std::chrono::steady_clock::now();
    process.send(SIGCONT);
    const Ended ended = process.end();
    EXPECT_LT(std::chrono::steady_clock::now() - asked, 2s);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_FALSE(ended.by_signal);
    EXPECT_FALSE(being_saved(name));
    const std::int64_t step = number_behind(ended.err, "stopped by a signal after step ");
    EXPECT_EQ(saved(name), step) << ended.err;
    EXPECT_EQ(resumed_after(name), step);
  }
}

// The second signal comes while the first is being answered: nothing is waited for, and what had been saved is there.
TEST_F(Trouble, T03ASecondSignalWithinTheLastSaveEndsItAtOnce) {
  {
    const Process begun(folder.path, tiny({"--steps", "1000000", "--out", "run", "--save-every", "2"}));
    for (int i = 0; i < 6000 && saved("run") <= 0; ++i) std::this_thread::sleep_for(10ms);
    begun.send(SIGKILL);
    ASSERT_EQ(begun.end().code, -SIGKILL);
  }
  const std::int64_t before = saved("run");
  ASSERT_GT(before, 0);
  const auto first_signal = [&](int) {
    auto process = std::make_unique<Process>(folder.path, tiny({"--steps", "1000000", "--out", "run", "--resume"}));
    EXPECT_TRUE(process->wait_for(" left\n")) << process->said();
    process->send(SIGTERM);
    return process;
  };
  const auto process = halted(first_signal, "run");
  ASSERT_TRUE(process);
  std::this_thread::sleep_for(250ms);  // closer together, two signals are one request
  process->send(SIGTERM);
  process->send(SIGCONT);
  const Ended ended = process->end();
  EXPECT_EQ(ended.code, 143);
  const std::int64_t last = saved("run");  // before it goes on, and saves
  EXPECT_GE(last, before);
  EXPECT_EQ(resumed_after("run"), last);
}

// A process that hangs, here because nobody reads what it says, is ended by a second signal too.
TEST_F(Trouble, T03ASecondSignalEndsAProcessThatHangs) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  fcntl(ends[1], F_SETPIPE_SZ, 4096);
  const Process process(folder.path, tiny({"--steps", "1000000", "--save-every", "10", "--out", "run"}), "/dev/null",
                        [&] { dup2(ends[1], 2); });
  close(ends[1]);
  int queued = 0;
  for (int i = 0, same = 0; i < 6000 && same < 30; ++i, std::this_thread::sleep_for(10ms)) {  // until nothing more fits the pipe
    int now = 0;
    ASSERT_EQ(ioctl(ends[0], FIONREAD, &now), 0);
    same = now == queued && now > 4096 - 300 ? same + 1 : 0;
    queued = now;
  }
  const std::int64_t last = saved("run");
  ASSERT_GT(last, 0);
  process.send(SIGINT);
  std::this_thread::sleep_for(250ms);
  process.send(SIGINT);
  EXPECT_EQ(process.end().code, 130);
  close(ends[0]);
  EXPECT_EQ(saved("run"), last);
  EXPECT_EQ(resumed_after("run"), last);
}

// After its last step a run is finished, whatever comes.
TEST_F(Trouble, T03ASignalAfterTheLastStepLosesNothing) {
  const auto anew = [&](int) {
    fs::remove_all(at("run"));
    return std::make_unique<Process>(folder.path, tiny({"--steps", "3", "--out", "run"}));
  };
  const auto process = halted(anew, "run");
  ASSERT_TRUE(process);
  process->send(SIGTERM);
  process->send(SIGCONT);
  const Ended ended = process->end();
  EXPECT_EQ(ended.code, 143) << ended.err;
  EXPECT_EQ(saved("run"), 3);
  ASSERT_EQ(run(tiny({"--steps", "3", "--out", "whole"})).code, 0);
  EXPECT_TRUE(test::text_of(at("run/model.safetensors")) == test::text_of(at("whole/model.safetensors")));
}

// T-01 by kill -9, again and again: each time the run goes on from its newest checkpoint, and ends in the same bits.
TEST_F(Trouble, T01KilledAndResumedItSaysAfterWhichStepAndEndsInTheSameBits) {
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--steps", "120", "--save-every", "7"});
    return tiny(more);
  };
  ASSERT_EQ(run(with({"--out", "whole", "--json"})).code, 0);
  std::int64_t before = 0;
  for (int round = 0; round < 4; ++round) {
    std::vector<std::string> more{"--out", "killed", "--json"};
    if (round > 0) more.push_back("--resume");
    const Process process(folder.path, with(more));
    for (int i = 0; i < 6000 && saved("killed") < before + 7; ++i) std::this_thread::sleep_for(1ms);
    process.send(SIGKILL);
    const Ended ended = process.end();
    ASSERT_EQ(ended.code, -SIGKILL) << "it ended before: " << ended.err;
    EXPECT_EQ(number_behind(ended.err, "resumed after step "), round > 0 ? before : -1) << ended.err;
    before = saved("killed");
    ASSERT_GT(before, 0);
  }
  const Ended last = run(with({"--out", "killed", "--json", "--resume"}));
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(number_behind(last.err, "resumed after step "), before) << last.err;
  EXPECT_TRUE(test::text_of(at("killed/model.safetensors")) == test::text_of(at("whole/model.safetensors")));
}

void limit_address_space(std::size_t mebibytes) {
  const rlimit limit{mebibytes << 20, mebibytes << 20};
  setrlimit(RLIMIT_AS, &limit);
}

std::map<std::string, std::string> contents_of(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != "lock") all[entry.path().string()] = test::text_of(entry.path());
  return all;
}

// T-07 with the real limit of a process, `ulimit -v`: refused with both sizes, and nothing is begun or touched.
TEST_F(Trouble, T07UnderASmallLimitOfAddressSpaceItRefusesAndTouchesNothing) {
  if (test::kSanitized) GTEST_SKIP() << "skipped: a sanitizer takes terabytes of address space for itself";
  const std::vector<std::string> large{"--layers", "4", "--d-model", "64", "--batch-size", "128", "--seq-len", "64"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), large.begin(), large.end());
    return tiny(more);
  };
  const auto limited = [] { limit_address_space(170); };
  const Ended refused = run(with({"--steps", "2"}), limited);
  EXPECT_TRUE(refused.code == 1 || refused.code == 2) << refused.code << refused.err;
  EXPECT_FALSE(refused.by_signal);
  for (const char* part : {"needs about ", "MiB", "have ", "(ulimit -v)"})
    EXPECT_NE(refused.err.find(part), std::string::npos) << part << "\n" << refused.err;
  EXPECT_FALSE(fs::exists(at("runs")));
  EXPECT_EQ(run(tiny({"--steps", "2"}), limited).code, 0);  // what fits is trained

  ASSERT_EQ(run(with({"--steps", "1", "--out", "large"})).code, 0);
  const auto before = contents_of(at("large"));
  const Ended again = run({"train", "--steps", "4", "--replan", "--out", "large", "--resume"}, limited);
  EXPECT_NE(again.code, 0);
  EXPECT_FALSE(again.by_signal) << again.code << again.err;
  EXPECT_NE(again.err.find("(ulimit -v)"), std::string::npos) << again.err;
  EXPECT_TRUE(contents_of(at("large")) == before);
}

// A checkpoint is read tensor by tensor: what fitted into memory once fits again.
TEST_F(Trouble, T07GoingOnTakesNoMoreMemoryThanTheRunItself) {
  const std::vector<std::string> asked{"train",        "--quiet", "--threads",  "1",        "--layers",  "6",
                                       "--d-model",    "256",     "--heads",    "4",        "--seq-len", "8",
                                       "--batch-size", "1",       "--schedule", "constant", "--out",     "a"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), asked.begin(), asked.end());
    return Process(folder.path, more).end();
  };
  const Ended first = with({"--steps", "2"}), rest = with({"--steps", "4", "--resume"});
  ASSERT_EQ(first.code, 0) << first.err;
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_GT(first.peak_mib, 80);  // 5 million parameters, four times
  EXPECT_LT(rest.peak_mib, 1.1 * first.peak_mib);
}

}  // namespace
}  // namespace addnorm
