#include "core/system/child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "addnorm/core/error.h"
#include "core/file.h"

namespace addnorm {
namespace {

struct Log {
  std::filesystem::path path = std::filesystem::temp_directory_path() / concat("addnorm-child-", getpid(), ".log");
  ~Log() { std::filesystem::remove(path); }
};

std::string end_of(const std::vector<std::string>& words) {
  const Log log;
  const auto end = Child::logged(words, log.path).end_within(20);
  return end ? end->text() : "it still runs";
}

TEST(Child, SaysHowItEnded) {
  EXPECT_EQ(end_of({"/bin/sh", "-c", "exit 3"}), "exit code 3");
  EXPECT_EQ(end_of({"/bin/sh", "-c", "kill -TERM $$"}), "ended by signal 15 (Terminated)");
  EXPECT_EQ(end_of({"/bin/sh", "-c", "kill -KILL $$"}), "ended by signal 9 (Killed); the machine may be out of memory");
  EXPECT_EQ(end_of({"/nonexistent/program"}), "the program could not be started");
}

TEST(Child, WhoseEndTheSystemForgetsIsNotAGoodOne) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  const std::string end = end_of({"/bin/true"});
  signal(SIGCHLD, before);
  EXPECT_EQ(end, "ended, but the system does not say how");
}

TEST(Child, WithALogPrintsThereAndReadsNothing) {
  const Log log;
  Child child = Child::logged({"/bin/sh", "-c", "cat; echo out; echo err >&2"}, log.path);
  ASSERT_TRUE(child.end_within(20)->good());
  EXPECT_FALSE(child.end_within(0).has_value());  // given once
  EXPECT_EQ(small_text(log.path, "a log"), "out\nerr\n");
}

TEST(Child, RunsOnUntilItIsAskedToEnd) {
  const Log log;
  Child child = Child::logged({"/bin/sleep", "100"}, log.path);
  EXPECT_FALSE(child.end_within(0.03).has_value());
  child.ask_to_end();
  EXPECT_EQ(child.end_within(20)->signal, SIGTERM);
}

TEST(Child, ThatIsConnectedAnswersWithTheSettingsOfItsEnvironment) {
  constexpr std::array<std::string_view, 1> settings{"HOME=elsewhere"};
  Child child = Child::connected({"sh", "-c", "while read -r word; do echo $word $HOME; done"}, settings);
  ASSERT_TRUE(child.channel().send("one\ntwo\n", 8));
  EXPECT_EQ(child.channel().read_line(20), "one elsewhere");
  EXPECT_EQ(child.channel().read_line(20), "two elsewhere");
  EXPECT_EQ(child.channel().read_line(0.02), std::nullopt);
  child.channel().close();
  EXPECT_TRUE(child.end_within(20)->good());
}

TEST(Child, ThatIsForkedRunsAFunctionUntilItReturnsOrThrows) {
  int value = 20;
  Child child = Child::forked([&](Channel& channel) {
    int more = 0;
    while (channel.receive(&more, sizeof more)) channel.send(&(value += more), sizeof value);
    throw Error("the other end is gone");
  });
  const int two = 2;
  int answer = 0;
  ASSERT_TRUE(child.channel().send(&two, sizeof two) && child.channel().receive(&answer, sizeof answer));
  EXPECT_EQ(answer, 22);
  EXPECT_EQ(value, 20);
  child.channel().close();
  EXPECT_TRUE(child.end_within(20)->good());
}

/// A signal every few milliseconds, which ends system calls that wait.
struct Interruptions {
  Interruptions() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, &before);
    set({.tv_sec = 0, .tv_usec = 3000});
  }
  ~Interruptions() {
    set({});
    sigaction(SIGALRM, &before, nullptr);
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;

 private:
  static void set(timeval every) {
    const itimerval timer{every, every};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  struct sigaction before {};
};

TEST(Child, IsSentAllWhateverSignalsCome) {
  const std::string large(4'000'000, 'x');
  Child child = Child::forked([&](Channel& channel) {
    std::string got(large.size(), ' ');
    for (std::size_t at = 0; at < got.size(); at += got.size() / 20) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (!channel.receive(got.data() + at, got.size() / 20)) return;
    }
    if (got == large) channel.send(got.data(), got.size());
  });
  std::string answer(large.size(), ' ');
  const Interruptions interruptions;
  EXPECT_TRUE(child.channel().send(large.data(), large.size()));
  EXPECT_TRUE(child.channel().receive(answer.data(), answer.size()));
  EXPECT_EQ(answer, large);
}

}  // namespace
}  // namespace addnorm
