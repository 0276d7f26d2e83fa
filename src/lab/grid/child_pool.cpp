#include "lab/grid/child_pool.h"

#include <algorithm>
#include <chrono>
#include <list>
#include <utility>

#include "addnorm/core/error.h"
#include "core/system/machine.h"

namespace addnorm {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(20);
constexpr auto kGraceTime = std::chrono::seconds(30);

struct RunningJob {
  const Job* job;
  Child child;
};

class ChildPool {
 public:
  ChildPool(const std::vector<Job>& jobs, const PoolOptions& options) : jobs_(jobs), options_(options) {}

  bool run() {
    while (next_ < jobs_.size() || !running_.empty()) {
      if (!stopping_ && !options_.go_on()) stop();
      if (!stopping_) fill_up();
      if (stopping_ && running_.empty()) return false;
      look();
      if (stopping_ && std::chrono::steady_clock::now() - asked_ > kGraceTime)
        for (const RunningJob& one : running_) one.child.kill_now();
      sleep_for(kBetweenLooks);
    }
    return !stopping_;
  }

 private:
  void stop() {
    stopping_ = true;
    asked_ = std::chrono::steady_clock::now();
    for (const RunningJob& one : running_) one.child.ask_to_end();
  }

  void fill_up() {
    while (next_ < jobs_.size() && static_cast<int>(running_.size()) < options_.at_once) {
      const auto beside = static_cast<int>(
          std::min<std::size_t>(jobs_.size() - next_ + running_.size(), static_cast<std::size_t>(options_.at_once)));
      start(jobs_[next_++], std::max(1, options_.threads / beside));
    }
  }

  void start(const Job& job, int threads) {
    try {
      std::vector<std::string> words = job.arguments(threads);
      words.insert(words.begin(), options_.program.string());
      running_.push_back({&job, Child::logged(std::move(words), job.log)});
    } catch (const Error& error) {
      return job.not_started(error.what());
    }
    job.started();
  }

  void look() {
    for (auto one = running_.begin(); one != running_.end();) {
      if (const auto end = one->child.end_within(0)) {
        one->job->done(*end, stopping_);
        one = running_.erase(one);
      } else {
        one->job->look();
        ++one;
      }
    }
  }

  const std::vector<Job>& jobs_;
  const PoolOptions& options_;
  std::size_t next_ = 0;
  std::list<RunningJob> running_;
  bool stopping_ = false;
  std::chrono::steady_clock::time_point asked_;
};

}  // namespace

bool run_jobs(const std::vector<Job>& jobs, const PoolOptions& options) { return ChildPool(jobs, options).run(); }

}  // namespace addnorm
