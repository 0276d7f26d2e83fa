#include "signals.h"

#include <unistd.h>

#include <csignal>

namespace addnorm::cli {
namespace {

volatile std::sig_atomic_t noted = 0;
struct sigaction before_int, before_term, before_hup, before_pipe;

extern "C" void note_signal(int number) {
  if (noted != 0) _exit(128 + number);
  noted = number;
}

void install(int number, void (*handler)(int), struct sigaction& before) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;  // reads and writes go on; loops ask caught()
  sigaction(number, &action, &before);
}

}  // namespace

SignalWatch::SignalWatch() {
  noted = 0;
  install(SIGINT, note_signal, before_int);
  install(SIGTERM, note_signal, before_term);
  install(SIGHUP, note_signal, before_hup);
  install(SIGPIPE, SIG_IGN, before_pipe);
}

SignalWatch::~SignalWatch() {
  sigaction(SIGINT, &before_int, nullptr);
  sigaction(SIGTERM, &before_term, nullptr);
  sigaction(SIGHUP, &before_hup, nullptr);
  sigaction(SIGPIPE, &before_pipe, nullptr);
}

int SignalWatch::caught() { return noted; }
int SignalWatch::exit_code() { return 128 + noted; }

}  // namespace addnorm::cli
