#include "probe/measures/spectrum.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace addnorm {
RowMatrix sampled_rows(const Tensor& x, const RowMask& rows, std::size_t most) {
  RowMatrix some{.width = x.shape().back()};
  std::vector<std::size_t> places;
  for (std::size_t r = 0; r < x.elements() / some.width; ++r)
    if (rows.empty() || rows[r]) places.push_back(r);
  some.count = std::min(most, places.size());
  some.values.resize(some.count * some.width);
  dispatch(x.dtype(), [&](auto zero) {
    for (std::size_t i = 0; i < some.count; ++i) {
      const auto* row = x.data<decltype(zero)>() + places[(i + 1) * places.size() / some.count - 1] * some.width;
      std::copy(row, row + some.width, some.values.begin() + static_cast<std::ptrdiff_t>(i * some.width));
    }
  });
  return some;
}

Ranks ranks(const Tensor& x, const RowMask& rows) {
  const std::size_t width = x.shape().back();
  const RowMatrix some = sampled_rows(x, rows, width > kMostGram ? kMostGram : std::numeric_limits<std::size_t>::max());
  const std::vector<double> squares = symmetric_eigenvalues(smaller_gram(some), std::min(width, some.count));
  if (squares.empty() || !(squares.back() > 0)) return {kNotMeasured, kNotMeasured};
  // Rounding of the Gram matrix: what is below it is nothing, and its root would look like something.
  const double least = squares.back() * static_cast<double>(squares.size()) * std::numeric_limits<double>::epsilon();
  double frobenius = 0, sum = 0;
  std::vector<double> values;
  for (const double s : squares) {
    if (s < least) continue;
    frobenius += s;
    values.push_back(std::sqrt(s));
    sum += values.back();
  }
  double entropy = 0;
  for (const double v : values) entropy -= v / sum * std::log(v / sum);
  return {.stable = frobenius / squares.back(), .effective = std::exp(entropy)};
}

}  // namespace addnorm
