#include "probe/measures/measures.h"

#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

std::size_t width_of(const Tensor& x) { return x.shape()[x.shape().rank() - 1]; }

/// see(row) for every row that counts, as a span of its type.
template <class See>
void for_each_row(const Tensor& x, const RowMask& rows, See&& see) {
  const std::size_t width = width_of(x), count = x.elements() / width;
  require(rows.empty() || rows.size() == count, "probe: a mask of ", rows.size(), " rows for ", count);
  dispatch(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t r = 0; r < count; ++r)
      if (rows.empty() || rows[r]) see(x.data<T>() + r * width);
  });
}

double over(double sum, double count) { return count > 0 ? sum / count : 0; }

}  // namespace

RowMask rows_within(const std::vector<std::size_t>& lengths, std::size_t tokens) {
  RowMask rows;
  if (lengths.empty()) return rows;
  rows.reserve(lengths.size() * tokens);
  for (const std::size_t length : lengths)
    for (std::size_t t = 0; t < tokens; ++t) rows.push_back(t < length);
  return rows;
}

// The sum of squares around the means is that around 0 less what the means hold. In double this is exact enough down to a spread
// of 1e-7, where float32 ends.
Moments moments(const Tensor& x, const RowMask& rows) {
  const std::size_t width = width_of(x);
  std::vector<double> sums(width, 0.0);
  double squares = 0, count = 0;
  for_each_row(x, rows, [&](const auto* row) {
    for (std::size_t i = 0; i < width; ++i) sums[i] += static_cast<double>(row[i]);
    squares += sum_of_squares(row, width);
    ++count;
  });
  double sum = 0, held = 0;
  for (const double s : sums) {
    sum += s;
    held += over(s * s, count);
  }
  const double all = count * static_cast<double>(width);
  return {.rms = std::sqrt(over(squares, all)),
          .mean = over(sum, all),
          .spread = squares > 0 ? std::sqrt(std::max(0.0, squares - held) / squares) : squares};
}

double norm(const Tensor& x) {
  double squares = 0;
  dispatch(x.dtype(), [&](auto zero) { squares = sum_of_squares(x.data<decltype(zero)>(), x.elements()); });
  return std::sqrt(squares);
}

double rms(const Tensor& x, const RowMask& rows) {
  const std::size_t width = width_of(x);
  double squares = 0, count = 0;
  for_each_row(x, rows, [&](const auto* row) {
    squares += sum_of_squares(row, width);
    ++count;
  });
  return std::sqrt(over(squares, count * static_cast<double>(width)));
}

RunningMean cosines(const Tensor& a, const Tensor& b, const RowMask& rows) {
  require(a.shape() == b.shape() && a.dtype() == b.dtype(), "probe: cosines of ", a.shape(), " and ", b.shape());
  const std::size_t width = width_of(a), count = a.elements() / width;
  RunningMean all;
  dispatch(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t r = 0; r < count; ++r) {
      if (!rows.empty() && !rows[r]) continue;
      const T* x = a.data<T>() + r * width;
      const T* y = b.data<T>() + r * width;
      double xy = 0, xx = 0, yy = 0;
      for (std::size_t i = 0; i < width; ++i) {
        const auto u = static_cast<double>(x[i]), v = static_cast<double>(y[i]);
        xy += u * v;
        xx += u * u;
        yy += v * v;
      }
      if (xx == 0 || yy == 0) continue;
      all += {xy / std::sqrt(xx * yy), 1};
    }
  });
  return all;
}

double mean_cosine(const Tensor& a, const Tensor& b, const RowMask& rows) { return cosines(a, b, rows).value(); }

}  // namespace addnorm
