// Measuring a workload: its limit, ourselves and the peers by turns, many short slices within the same seconds.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/jobs/workload.h"

namespace addnorm::bench {

/// Medians over the rounds. A ratio is the median of the rounds' ratios: both sides of each come from the same moment.
struct Result {
  std::string group, name;
  std::vector<std::size_t> shape;
  bool cold = false;
  int threads = 1;
  Limit limit = Limit::fma;
  Traffic traffic = Traffic::copy;  ///< as in Workload
  double work = 0;
  double seconds = 0;
  double share_of_limit = 0;
  double others = 0;  ///< cores that other programs kept busy meanwhile
  struct Rival {
    double seconds, ratio;     ///< ratio: its time / ours
    double low = 0, high = 0;  ///< quartiles of the rounds' ratios
  };
  std::optional<Rival> torch, by_hand, compile, onednn;
  // Whole steps alone; `torch` is then the faster of eager and compile.
  std::optional<Rival> eager;
  std::optional<Rival> bf16_eager, bf16_compile;  ///< PyTorch's autocast against us in f32
  std::optional<Rival> bf16;                      ///< the faster of the two
  std::size_t tokens = 0;                         ///< of one call
  double peak_mib = 0;                            ///< of a process that does nothing else; 0: not measured
  double peak_mib_torch = 0;
  // Sentence vectors alone.
  std::optional<Rival> onnxruntime, ctranslate2, openvino;
  std::optional<Rival> torch_bf16, openvino_bf16;  ///< against us in f32
  double cosine = 0;       ///< the least of any text, between our vector and any peer's; 0: nothing to compare with
  double cosine_bf16 = 0;  ///< the same of peers in bf16
  double weights_mib = 0;  ///< of the model, for the row with its peak of memory
};

/// Rounds go on until the budget is spent, but there are at least `rounds` of them.
struct Effort {
  double budget_seconds = 0.8;
  double slice_seconds = 0.012;
  int rounds = 5;
};

/// One of the contenders that take turns.
struct Contender {
  std::function<std::optional<double>()> slice;  ///< seconds per call
  std::vector<double> seconds{};                 ///< one per round
  bool failed = false;

  /// Its time / the other's: the median over the rounds. Nothing when it failed or was never asked.
  std::optional<Result::Rival> compared_with(const Contender& ours) const;
};
/// A contender in a process of its own (0: this one). The team of the one before must sleep; so must its own before the next
/// one starts.
Contender alone(pid_t pid, std::function<std::optional<double>()> slice);
/// A round gives one slice to each, until the budget is spent.
void take_turns(const std::vector<Contender*>& turns, const Effort& effort);

/// Limits at the size of a workload, kept for the next workload of that size; thread counts share the arrays.
class Limits {
 public:
  /// Seconds the limit loop takes for `work` bytes or operations, measured now.
  double seconds(const Workload& w, bool cold, int threads, double slice_seconds);

 private:
  struct Entry {
    MemoryLimit loop;
    std::map<std::pair<int, std::size_t>, StoreKind> faster;  ///< by thread count and floats moved at a time
  };
  static StoreKind faster_stores(Entry& entry, std::size_t floats, int threads);
  std::map<std::pair<Traffic, std::size_t>, Entry> entries_;
  std::map<std::size_t, ReadLimit> reads_;
};

/// peer may be null. torch.compile is measured where the workload has it and `compile` is set.
Result measure(const Workload& w, bool cold, int threads, const Effort& effort, bool compile, Limits& limits, Peer* peer);

}  // namespace addnorm::bench
