// Means over seeds, and when two of them differ.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "addnorm/lab/grid_result.h"

namespace addnorm {
namespace {

constexpr std::size_t kLeastSeeds = 3;

/// The 0.975 quantile of Student's t with nu degrees of freedom; between whole numbers that of the lower one, which is the
/// larger.
double student_t(double nu) {
  static constexpr std::array kQuantiles{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                         2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                         2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  const auto whole = static_cast<std::size_t>(std::clamp(std::floor(nu), 1.0, 1e6));
  return whole <= kQuantiles.size() ? kQuantiles[whole - 1] : 2.042;
}

}  // namespace

Spread spread_of(std::span<const double> values) {
  Spread spread{.count = values.size()};
  if (values.empty()) {
    spread.mean = spread.deviation = spread.least = spread.most = std::nan("");
    return spread;
  }
  const auto n = static_cast<double>(values.size());
  for (const double value : values) spread.mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = values.size() > 1 ? std::sqrt(squares / (n - 1)) : std::nan("");
  spread.least = std::ranges::min(values);
  spread.most = std::ranges::max(values);
  return spread;
}

Difference difference_of(const Spread& a, const Spread& b) {
  Difference found{.difference = a.mean - b.mean, .margin = std::nan("")};
  if (a.count < kLeastSeeds || b.count < kLeastSeeds) return found;
  const double na = static_cast<double>(a.count), nb = static_cast<double>(b.count);
  const double va = a.deviation * a.deviation / na, vb = b.deviation * b.deviation / nb;
  if (va + vb == 0) {
    found.margin = 0;
    return found;
  }
  const double nu = (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1));
  found.margin = student_t(nu) * std::sqrt(va + vb);
  return found;
}

}  // namespace addnorm
