// The median of very many magnitudes, without keeping them.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "probe/measures/measures.h"

namespace addnorm {

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

}  // namespace addnorm
