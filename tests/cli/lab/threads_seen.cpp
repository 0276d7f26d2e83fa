// How many threads the tool uses, and how they wait.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "cli/process.h"

namespace addnorm::test {
namespace {

namespace fs = std::filesystem;

/// Words of a file of /proc that end with a zero each.
std::set<std::string> words_of(pid_t pid, const char* file) {
  std::set<std::string> words;
  const std::string text = text_of("/proc/" + std::to_string(pid) + "/" + file);
  for (std::size_t first = 0, end; (end = text.find('\0', first)) != std::string::npos; first = end + 1)
    words.insert(text.substr(first, end - first));
  return words;
}

struct Threads : testing::Test {
  static constexpr const char* kEndless = "1000000";  // steps

  /// In the environment that a person has, with what is set here.
  Process start(const std::vector<std::string>& arguments, const std::vector<std::pair<const char*, const char*>>& set) const {
    return Process(folder.path, arguments, "/dev/null", [set] {
      for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "OMP_NUM_THREADS"}) unsetenv(name);
      for (const auto& [name, value] : set) setenv(name, value, 1);
    });
  }
  static std::vector<std::string> tiny(const std::string& command, const std::vector<std::string>& more) {
    std::vector<std::string> all{command,        "--d-model", "16",       "--heads", "2",       "--seq-len", "16",
                                 "--batch-size", "4",         "--layers", "1",       "--steps", kEndless};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  bool wait_for_steps(std::size_t runs, const fs::path& below = "runs") const {
    for (int i = 0; i < 3000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
      std::size_t begun = 0;
      std::error_code none;
      for (const auto& entry : fs::recursive_directory_iterator(folder.path / below, none))
        begun += entry.path().filename() == "metrics.jsonl" && fs::file_size(entry.path(), none) > 0;
      if (begun >= runs) return true;
    }
    return false;
  }
  /// Of the processes that it has started, what their --threads says.
  static std::vector<std::string> threads_of_children(pid_t parent) {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator("/proc", fs::directory_options::skip_permission_denied)) {
      if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string stat = text_of(entry.path() / "stat");
      const std::size_t name_end = stat.rfind(')');
      if (name_end == std::string::npos) continue;
      if (std::stol(stat.substr(name_end + 4)) != parent) continue;
      const std::string line = text_of(entry.path() / "cmdline");
      const std::string option = std::string("--threads") + '\0';
      const std::size_t found = line.find(option);
      if (found != std::string::npos) all.emplace_back(line.c_str() + found + option.size());
    }
    return all;
  }
  /// With its children: nobody writes into the folder after the test.
  static void end(const Process& process) {
    process.send(SIGTERM);
    EXPECT_EQ(process.end().code, 143);
  }
  static long threads_in(pid_t pid) {
    const std::string status = text_of("/proc/" + std::to_string(pid) + "/status");
    return std::stol(status.substr(status.find("Threads:") + 8));
  }
  TemporaryFolder folder;
};

TEST_F(Threads, SleepSoonWhenTheyWaitBecauseTheToolBeginsAnew) {
  const Process process = start(tiny("train", {"--out", "runs/a"}), {});
  ASSERT_TRUE(wait_for_steps(1));
  EXPECT_TRUE(words_of(process.pid(), "environ").contains("GOMP_SPINCOUNT=1000"));
  EXPECT_TRUE(words_of(process.pid(), "cmdline").contains("runs/a"));  // with the same words
}

TEST_F(Threads, WaitAsTheUserSaysWhoHasSaidIt) {
  for (const char* name : {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"}) {
    const std::string place = std::string("runs/") + name;
    const Process process = start(tiny("train", {"--out", place}), {{name, name[0] == 'G' ? "77" : "PASSIVE"}});
    ASSERT_TRUE(process.wait_until_it_listens());
    const std::set<std::string> environment = words_of(process.pid(), "environ");
    EXPECT_FALSE(environment.contains("GOMP_SPINCOUNT=1000")) << name;
    EXPECT_EQ(environment.contains("GOMP_SPINCOUNT=77"), name[0] == 'G');
  }
}

TEST_F(Threads, AreAsManyAsOmpNumThreadsSaysUnlessTheOptionSaysOtherwise) {
  int number = 0;
  const auto threads = [&](const char* granted, const std::vector<std::string>& more) {
    const std::string place = "runs/" + std::to_string(++number);
    std::vector<std::string> all{"train", "--d-model", "128", "--layers", "1", "--steps", kEndless, "--out", place};
    all.insert(all.end(), more.begin(), more.end());
    const Process process = start(all, {{"OMP_NUM_THREADS", granted}});
    EXPECT_TRUE(wait_for_steps(1, place));
    return threads_in(process.pid());
  };
  const long one = threads("1", {});
  EXPECT_EQ(threads("3", {}), one + 2);
  EXPECT_EQ(threads("3", {"--threads", "2"}), one + 1);
}

TEST_F(Threads, OfALabAreAsManyRunsAtOnce) {
  int number = 0;
  const auto children = [&](const char* granted, std::size_t runs, const std::vector<std::string>& more) {
    const std::string place = "runs/" + std::to_string(++number);
    std::vector<std::string> all = tiny("lab", {"--arrangements", "pre-ln", "--seeds", "3", "--no-predict", "--out", place});
    all.insert(all.end(), more.begin(), more.end());
    const Process process = start(all, {{"OMP_NUM_THREADS", granted}});
    EXPECT_TRUE(wait_for_steps(runs, place)) << process.said();
    const std::vector<std::string> found = threads_of_children(process.pid());
    end(process);
    return found;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(children("1", 1, {}), Texts({"1"}));
  EXPECT_EQ(children("3", 3, {}), Texts({"1", "1", "1"}));
  EXPECT_EQ(children("3", 1, {"--threads", "1"}), Texts({"1"}));
  EXPECT_EQ(children("3", 1, {"--at-once", "1"}), Texts({"3"}));
}

TEST_F(Threads, OfDepthAreAsManyRunsAtOnce) {
  std::vector<std::string> asked = tiny("depth", {"--no-predict", "--most", "8"});
  std::erase(asked, "--layers");
  std::erase(asked, "1");
  const Process process = start(asked, {{"OMP_NUM_THREADS", "1"}});
  ASSERT_TRUE(wait_for_steps(1)) << process.said();
  EXPECT_EQ(threads_of_children(process.pid()), std::vector<std::string>({"1"}));
  end(process);
}

TEST_F(Threads, AreNamedByTheHelpOfEveryCommandThatHasThem) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"train"}, {"preflight"}, {"lab"}, {"depth"}, {"lab", "claims"}}) {
    std::vector<std::string> all = command;
    all.emplace_back("--help");
    const std::string help = Process(folder.path, all).end().out;
    EXPECT_NE(help.find("OMP_NUM_THREADS"), std::string::npos) << command.back() << "\n" << help;
  }
}

}  // namespace
}  // namespace addnorm::test
