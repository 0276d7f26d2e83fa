// What an x-ray measures of one stack while passes run: sizes, peaks, directions and attention, over any number of batches.
#pragma once

#include "addnorm/probe/xray.h"
#include "addnorm/residual/stream.h"
#include "probe/xray/magnitudes.h"

namespace addnorm {

class StreamXray final : public StreamObserver {
 public:
  explicit StreamXray(const StackShape& shape);

  /// A pass over sequences of these ids and lengths follows; both stay where they are. No ids: rows of numbers.
  void begin(const std::vector<std::int32_t>& ids, const std::vector<std::size_t>& lengths);
  /// ||a s||^2 of every unit in that pass, where it is known.
  void add_skips(const std::vector<double>& squares);
  void on_branch(const Unit& unit, const Var& added) override;
  void on_stream(const Unit* unit, const Var& x) override;
  void on_attention(const Unit& unit, const AttentionScores& scores) override;
  void write_to(StackXray& stack) const;

 private:
  struct Place {
    double squares = 0, elements = 0;
    Magnitudes magnitudes{};
    StreamPeak peak{};
  };
  struct OfUnit {
    double branch = 0, before = 0, skip = 0;  ///< sums of squares
    RunningMean cosine{}, entropy{};
    double max_logit = 0;
    bool attends = false;
  };
  void measure(const Tensor& x, Place& place) const;

  StackShape shape_;
  const std::vector<std::int32_t>* ids_ = nullptr;
  const std::vector<std::size_t>* lengths_ = nullptr;
  RowMask rows_;
  std::size_t length_ = 1;  // rows of a sequence, padding included
  std::vector<Place> places_;
  std::vector<OfUnit> units_;
  std::vector<RunningMean> layers_;  // cosines across whole layers
  bool skips_known_ = false;
  double squares_before_ = 0;  // of the stream that the next branch is added to
  Tensor before_, layer_input_;
};

}  // namespace addnorm
