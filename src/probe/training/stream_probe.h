// Measures one stack in one pass: values as they are announced, gradients after backward.
#pragma once

#include <string>
#include <vector>

#include "addnorm/probe/record.h"
#include "addnorm/residual/stream.h"
#include "probe/measures/measures.h"

namespace addnorm {

class StreamProbe final : public StreamObserver {
 public:
  explicit StreamProbe(std::string name) { record_.name = std::move(name); }

  void begin(std::vector<std::size_t> lengths);  ///< a new pass over sequences of these lengths; none: without padding
  void on_branch(const Unit& unit, const Var& added) override;
  void on_stream(const Unit* unit, const Var& x) override;
  void on_parting(const Unit& unit, const Var& whole, const Var& skip, const Var& branch) override;
  void on_output(const Var& y) override;
  void on_attention(const Unit& unit, const AttentionScores& scores) override;
  /// Reads the gradients and lets go of the graph.
  void read_gradients();

  double seconds() const { return seconds_; }  ///< what all of this took since begin()
  bool used() const { return !record_.stream_rms.empty(); }
  const StackRecord& record() const { return record_; }

 private:
  std::size_t place_of(const Unit& unit);
  class Timed;

  double seconds_ = 0;
  StackRecord record_;
  std::vector<std::size_t> lengths_;
  RowMask rows_;
  double stream_norm_ = 0;  // RMS of the stream that the next branch is added to
  std::vector<Var> streams_;
  struct Parts {
    std::size_t unit;
    Var skip, branch;
  };
  std::vector<Parts> parts_;
};

}  // namespace addnorm
