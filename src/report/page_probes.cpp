#include "report/page_probes.h"

#include <algorithm>

#include "addnorm/core/error.h"
#include "report/at_once.h"
#include "report/probe_matrices.h"

namespace addnorm {
namespace {

constexpr std::size_t kMostProbeBytes = 6'000'000;

/// What was read of a file of probes.
struct ReadProbes {
  ProbeMatrices matrices{};
  std::size_t bytes = 0;
  std::string failed{};  ///< why it could not be read; "": it could
};

ReadProbes read_probes(const std::filesystem::path& file) {
  try {
    ReadProbes read{.matrices = probe_matrices(file)};
    read.bytes = read.matrices.stacks.dump().size();
    return read;
  } catch (const DataError& error) {
    return {.failed = error.what()};
  }
}

/// Takes the probes of one file after the other, until there is no room for more.
class ProbeRoom {
 public:
  explicit ProbeRoom(Problems& problems) : problems_(problems) {}

  bool full() const { return full_; }
  void leave_out(std::size_t count) { left_out_ += count; }

  void take(const ProbeJob& job, ReadProbes read) {
    if (!full_ && !read.failed.empty()) return problems_.push_back(concat(read.failed, "; the run is shown without its probes"));
    full_ = full_ || bytes_ + read.bytes > kMostProbeBytes;
    if (full_) return leave_out(1);
    if (read.matrices.flaws.any()) flaws_.add(concat(job.file.string(), ": ", read.matrices.flaws.text()));
    if (read.matrices.stacks.size() == 0) return;
    bytes_ += read.bytes;
    taken_.emplace_back(job.run, std::move(read.matrices.stacks));
  }

  /// Hands them to their runs. `all_or_none`: unless one was left out.
  void give(bool all_or_none) {
    if (full_ && all_or_none)
      leave_out(taken_.size());
    else
      for (auto& [run, probes] : taken_) (*run)["probes"] = std::move(probes);
    taken_.clear();
  }

  void report() const {
    flaws_.report("the other lines are shown", problems_);
    if (left_out_ > 0)
      problems_.push_back(concat("probes of ", left_out_, " runs are left out: those of a page take ",
                                 kMostProbeBytes / 1'000'000, " MB at most; name fewer runs to see them"));
  }

 private:
  Problems& problems_;
  CountedProblem flaws_;
  std::vector<std::pair<Json*, Json>> taken_;
  std::size_t bytes_ = 0, left_out_ = 0;
  bool full_ = false;
};

}  // namespace

void add_probes(const std::vector<ProbeJob>& jobs, Problems& problems) {
  constexpr std::size_t kAtOnce = 32;
  ProbeRoom room(problems);
  for (const bool first_seeds : {true, false}) {
    std::vector<const ProbeJob*> wanted;
    for (const ProbeJob& job : jobs)
      if (job.first_seed == first_seeds) wanted.push_back(&job);
    std::size_t begin = 0;
    for (; begin < wanted.size() && !room.full(); begin += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, wanted.size() - begin);
      std::vector<ReadProbes> read(count);
      read_at_once(count, [&](std::size_t i) { read[i] = read_probes(wanted[begin + i]->file); });
      for (std::size_t i = 0; i < count; ++i) room.take(*wanted[begin + i], std::move(read[i]));
    }
    room.leave_out(wanted.size() - std::min(begin, wanted.size()));
    room.give(!first_seeds);  // other seeds of some rows only would be a puzzle
  }
  room.report();
}

}  // namespace addnorm
