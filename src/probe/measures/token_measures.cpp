#include "probe/measures/token_measures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "probe/measures/spectrum.h"

namespace addnorm {
namespace {

RowMatrix all_rows(const Tensor& x, const RowMask& rows) {
  return sampled_rows(x, rows, std::numeric_limits<std::size_t>::max());
}

std::vector<double> means_of(const RowMatrix& x) {
  std::vector<double> mean(x.width, 0.0);
  for (std::size_t r = 0; r < x.count; ++r)
    for (std::size_t i = 0; i < x.width; ++i) mean[i] += x.row(r)[i];
  for (double& m : mean) m /= static_cast<double>(x.count);
  return mean;
}

}  // namespace

double max_over_median(const Tensor& x, const RowMask& rows) {
  std::vector<double> sizes = all_rows(x, rows).values;
  for (double& v : sizes) {
    v = std::abs(v);
    if (!std::isfinite(v)) return kNotMeasured;  // NaN has no place in an order
  }
  if (sizes.empty()) return kNotMeasured;
  const double largest = *std::ranges::max_element(sizes);
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::ranges::nth_element(sizes, middle);
  return *middle > 0 ? largest / *middle : kNotMeasured;
}

double kurtosis(const Tensor& x, const RowMask& rows) {
  const RowMatrix all = all_rows(x, rows);
  if (all.count == 0) return kNotMeasured;
  const std::vector<double> mean = means_of(all);
  std::vector<double> second(all.width, 0.0), fourth(all.width, 0.0);
  for (std::size_t r = 0; r < all.count; ++r)
    for (std::size_t i = 0; i < all.width; ++i) {
      const double c = all.row(r)[i] - mean[i], square = c * c;
      second[i] += square;
      fourth[i] += square * square;
    }
  double sum = 0, counted = 0;
  for (std::size_t i = 0; i < all.width; ++i) {
    // Equal values have a mean that is off by a rounding.
    const double least = std::pow(mean[i] * 1e-12, 2) * static_cast<double>(all.count);
    if (second[i] <= least) continue;
    sum += fourth[i] * static_cast<double>(all.count) / (second[i] * second[i]);
    ++counted;
  }
  return counted > 0 ? sum / counted : kNotMeasured;
}

double token_similarity(const Tensor& x, const RowMask& rows) {
  const RowMatrix all = all_rows(x, rows);
  std::vector<double> sum(all.width, 0.0);
  double n = 0;
  for (std::size_t r = 0; r < all.count; ++r) {
    double squares = 0;
    for (std::size_t i = 0; i < all.width; ++i) squares += all.row(r)[i] * all.row(r)[i];
    if (squares == 0) continue;
    const double over = 1 / std::sqrt(squares);
    for (std::size_t i = 0; i < all.width; ++i) sum[i] += all.row(r)[i] * over;
    ++n;
  }
  if (n < 2) return kNotMeasured;
  double squares = 0;
  for (const double s : sum) squares += s * s;
  return (squares - n) / (n * (n - 1));
}

FeatureMoments feature_moments(const Tensor& x, const RowMask& rows) {
  const RowMatrix all = all_rows(x, rows);
  FeatureMoments m{means_of(all), std::vector<double>(all.width, 0.0)};
  for (std::size_t r = 0; r < all.count; ++r)
    for (std::size_t i = 0; i < all.width; ++i) m.deviation[i] += std::pow(all.row(r)[i] - m.mean[i], 2);
  for (double& v : m.deviation) v = std::sqrt(v / static_cast<double>(all.count));
  return m;
}

}  // namespace addnorm
