#include "lab/outcome/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "addnorm/core/error.h"

namespace addnorm::lab {
namespace {

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> all;
  for (const double v : values) all.push_back(std::log(v));
  return all;
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<double> all;
  for (const double v : values) {
    const auto below = std::ranges::count_if(values, [&](double other) { return other < v; });
    const auto equal = std::ranges::count(values, v);
    all.push_back(static_cast<double>(below) + static_cast<double>(equal - 1) / 2);
  }
  return all;
}

}  // namespace

double deviation_of(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double median_of(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

Line fitted_line(std::span<const double> x, std::span<const double> y) {
  require(x.size() == y.size() && x.size() >= 2, "fitted_line: ", x.size(), " x and ", y.size(), " y; two points at least");
  const double mx = mean_of(x), my = mean_of(y);
  double xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    xy += (x[i] - mx) * (y[i] - my);
    yy += (y[i] - my) * (y[i] - my);
  }
  const double slope = xy / xx;
  return {.slope = slope, .intercept = my - slope * mx, .r2 = yy > 0 ? slope * xy / yy : 1};
}

double fitted_power(std::span<const double> x, std::span<const double> y) {
  return fitted_line(logarithms(x), logarithms(y)).slope;
}

double spearman(std::span<const double> x, std::span<const double> y) {
  const Line line = fitted_line(ranks(x), ranks(y));
  return std::copysign(std::sqrt(std::max(line.r2, 0.0)), line.slope);
}

}  // namespace addnorm::lab
