// Measuring sentence vectors: ours in a process of its own, PyTorch, ONNX Runtime, CTranslate2 and OpenVINO in others, by turns.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "bench/machine/worker.h"

namespace addnorm::bench {

/// Where the vectors of a case are left for comparison.
std::filesystem::path vectors_file(const EmbedCase& c, const std::string& whose);

/// Vectors of two libraries must be as near as this, or the row is invalid.
inline constexpr double kLeastCosine = 0.99999;
inline constexpr double kLeastCosineBf16 = 0.999;  ///< bf16 has 8 bits, and errors of six layers add up; 0.99998 is usual

/// The peers of all measurements, started when the first one needs them. What is not available is reported in `notes`, once.
class EmbedBench {
 public:
  /// Starts the processes that will load, where sentence vectors are `wanted`: before this one has mapped much.
  EmbedBench(const Options& options, bool wanted, std::ostream& notes);

  /// A row for each number of threads. A NumericsError when vectors disagree.
  void measure(const Job& job, const std::vector<int>& thread_counts, Limits& limits, Worker& worker, Report& report);
  /// Rows for loading, the median of some processes one after the other, and for memory, the largest of all so far.
  void add_totals(Report& report);

 private:
  void start_peers(Report& report);
  void prepare(const EmbedCase& c);
  bool ready(std::size_t i, int threads);
  Result row(const Workload& w, const EmbedCase& c, int threads, Limits& limits, Worker& worker);
  double compare(const EmbedCase& c, bool bf16) const;

  std::string python_;
  bool quick_, bf16_;
  std::ostream& notes_;
  bool started_ = false;
  std::vector<std::unique_ptr<Peer>> peers_;  // in the order of the table in embed_measure.cpp; null: not there
  std::vector<std::unique_ptr<Worker>> loaders_;
  double peak_mib_ = 0;
};

}  // namespace addnorm::bench
