#include "bench/machine/worker.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <fstream>
#include <string>
#include <thread>

#include "addnorm/core/parallel.h"
#include "bench/slice.h"

namespace addnorm::bench {
namespace {

struct Request {
  int threads;
  double seconds;
};
struct Answer {
  double seconds;  // median of the slice
  double made;     // by make()
};

/// Whole or not at all; false at the end of the connection.
bool receive(int socket, void* data, std::size_t bytes) {
  ssize_t got = 0;
  do got = recv(socket, data, bytes, MSG_WAITALL);
  while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(bytes);
}
bool say(int socket, const void* data, std::size_t bytes) {
  return send(socket, data, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
}

/// The first call may be a long one: it alone then makes the slice.
double one_slice(const std::function<void()>& call, double seconds) {
  std::vector<double> times;
  for (const double begin = now(); times.empty() || now() - begin < seconds;) {
    const double start = now();
    call();
    times.push_back(now() - start);
  }
  return median(times);
}

void serve(int socket, const std::function<std::function<void()>()>& make) {
  std::function<void()> call;
  double made = 0;
  for (Request request{}; receive(socket, &request, sizeof request);) {
    set_threads(request.threads);
    if (!call) {
      const double begin = now();
      call = make();
      made = now() - begin;
    }
    const Answer answer{one_slice(call, request.seconds), made};
    if (!say(socket, &answer, sizeof answer)) return;
  }
}

/// Never returns. On a thread of its own: OpenMP's team belongs to the thread that made it, and the threads of a team that the
/// parent may have are not here.
[[noreturn]] void run_child(int socket, const std::function<std::function<void()>()>& make) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::thread([&] {
    try {
      serve(socket, make);
    } catch (const std::exception&) {  // the parent notices that no answer comes
    }
  }).join();
  _exit(0);
}

}  // namespace

Worker::Worker(const std::function<std::function<void()>()>& make) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  socket_ = ends[0];
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[0]);
    run_child(ends[1], make);
  }
  close(ends[1]);
}

Worker::~Worker() {
  if (socket_ >= 0) close(socket_);
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);  // workers that were started later still hold its connection: it would not see the end
  waitpid(pid_, nullptr, 0);
}

std::optional<double> Worker::slice(int threads, double seconds) {
  const Request request{threads, seconds};
  Answer answer{};
  if (pid_ <= 0 || !say(socket_, &request, sizeof request) || !receive(socket_, &answer, sizeof answer)) return std::nullopt;
  made_ = answer.made;
  return answer.seconds;
}

double peak_mib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

}  // namespace addnorm::bench
