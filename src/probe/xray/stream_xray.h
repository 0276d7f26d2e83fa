// What an x-ray measures: of one stack while passes run, sizes, peaks, directions and attention over any number of batches; of
// the norms, their gains.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "addnorm/probe/xray.h"
#include "addnorm/residual/stream.h"
#include "probe/measures/measures.h"

namespace addnorm {

/// The median of very many magnitudes, without keeping them.
///
/// Counts float32 magnitudes by the upper 15 bits after the sign: exponent and 7 digits. The median is the middle of its bin,
/// which is off by at most 1/256 of it. The order in which values are added does not matter.
class Magnitudes {
 public:
  void add(float value) {
    ++counts_[(std::bit_cast<std::uint32_t>(value) & 0x7fffffffu) >> 16];
    ++all_;
  }
  /// The upper one of two medians. NaN: nothing was added, or it is not finite.
  double median() const {
    std::uint64_t below = 0;
    for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
      below += counts_[bin];
      if (below <= all_ / 2) continue;
      const auto low = static_cast<std::uint32_t>(bin) << 16;
      if (low >= kInfinity) return kNotMeasured;
      if (bin == 0) return 0;
      const auto from = static_cast<double>(std::bit_cast<float>(low));
      const auto to = low + 0x10000 >= kInfinity ? from : static_cast<double>(std::bit_cast<float>(low + 0x10000));
      return (from + to) / 2;
    }
    return kNotMeasured;
  }

 private:
  static constexpr std::uint32_t kInfinity = 0x7f800000u;
  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(std::size_t{1} << 15);
  std::uint64_t all_ = 0;
};

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

/// The gains of all norms of a model, by their places: in the order of the traversal: entry, units, exit, then norms inside
/// branches. Norms without gains are not in it.
std::vector<NormGains> norm_gains(Model& model);

}  // namespace addnorm
