#include "cli/terminal/signals.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <fstream>
#include <iostream>

#include "cli/terminal/figures.h"

namespace addnorm::cli {
namespace {

std::atomic<int> noted{0};

/// Some send a signal twice at once, to a process and to its group: timeout(1), shells that end. That is one request.
constexpr auto kOneRequest = std::chrono::milliseconds(200);

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
  return set;
}

void wait_for_signals(const std::atomic<bool>& over) {
  const sigset_t set = watched();
  const timespec moment{.tv_sec = 0, .tv_nsec = 20'000'000};
  std::chrono::steady_clock::time_point first;
  while (!over) {
    const int number = sigtimedwait(&set, nullptr, &moment);
    if (number <= 0) continue;
    const auto now = std::chrono::steady_clock::now();
    if (noted == 0) {
      first = now;
      noted = number;
    } else if (now - first > kOneRequest) {
      _exit(128 + number);
    }
  }
}

/// The command line of this process, as one would type it.
std::string this_command() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string all, word;
  while (std::getline(in, word, '\0')) all += all.empty() ? "addnorm" : " " + for_shell(word);
  return all.empty() ? "the same command" : all;
}

}  // namespace

int stopped_by_signal(const std::string& kept, const char* verb) {
  std::cerr << "stopped by a signal; " << kept << "; " << verb << ": " << this_command() << '\n' << std::flush;
  return SignalWatch::exit_code();
}

SignalWatch::SignalWatch() {
  noted = 0;
  const sigset_t set = watched();
  pthread_sigmask(SIG_BLOCK, &set, &mask_before_);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &pipe_before_);
  waiter_ = std::thread([this] { wait_for_signals(over_); });
}

SignalWatch::~SignalWatch() {
  over_ = true;
  waiter_.join();
  sigaction(SIGPIPE, &pipe_before_, nullptr);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

int SignalWatch::caught() { return noted; }
int SignalWatch::exit_code() { return 128 + noted; }

}  // namespace addnorm::cli
