#include "bench/machine/worker.h"

#include <fstream>
#include <string>
#include <vector>

#include "addnorm/core/error.h"
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

void serve(Channel& channel, const std::function<std::function<void()>()>& make) {
  std::function<void()> call;
  double made = 0;
  for (Request request{}; channel.receive(&request, sizeof request);) {
    set_threads(request.threads);
    if (!call) {
      const double begin = now();
      call = make();
      made = now() - begin;
    }
    const Answer answer{one_slice(call, request.seconds), made};
    if (!channel.send(&answer, sizeof answer)) return;
  }
}

}  // namespace

Worker::Worker(const std::function<std::function<void()>()>& make) {
  try {
    child_.emplace(Child::forked([&](Channel& channel) { serve(channel, make); }));
  } catch (const Error&) {  // slice() answers nothing
  }
}

std::optional<double> Worker::slice(int threads, double seconds) {
  const Request request{threads, seconds};
  Answer answer{};
  if (!child_ || !child_->channel().send(&request, sizeof request) || !child_->channel().receive(&answer, sizeof answer))
    return std::nullopt;
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
