// Entropy of what was counted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace addnorm {

/// ln n - sum c ln c / n over counts c with sum n: the entropy of their shares.
class CountEntropy {
 public:
  void add(std::uint64_t count) {
    if (count == 0) return;
    const auto c = static_cast<double>(count);
    total_ += c;
    weighted_ += c * std::log(c);
  }
  double value() const { return total_ > 0 ? std::max(0.0, std::log(total_) - weighted_ / total_) : 0; }

 private:
  double total_ = 0, weighted_ = 0;
};

}  // namespace addnorm
