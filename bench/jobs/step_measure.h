// Measuring whole steps: ours in a process of its own, PyTorch in others, by turns.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "bench/machine/worker.h"
#include "bench/measure.h"

namespace addnorm::bench {

/// PyTorch's side of one workload, a fresh process each, so that peaks of memory are those of this workload alone. What is not
/// available is null.
struct StepPeers {
  std::unique_ptr<Peer> eager, compiled;
  std::unique_ptr<Peer> bf16, bf16_compiled;  ///< autocast
  double peak_mib = 0;  ///< in f32: the least of the processes here and of one with plain malloc, which is slower and smaller

  std::vector<pid_t> pids() const;
};
/// Which forms are wanted, where the workload has them.
struct StepForms {
  bool compile, bf16;
};
/// threads: as many as the peak and torch.compile are wanted for. Problems go to `notes`.
StepPeers start_step_peers(const Workload& w, const std::string& python, int threads, StepForms wanted, std::ostream& notes);

/// One row. torch.compile takes part where `compile` says that it was compiled for this number of threads.
Result measure_step(const Workload& w, int threads, const Effort& effort, bool compile, Limits& limits, Worker& ours,
                    StepPeers& peers);

}  // namespace addnorm::bench
