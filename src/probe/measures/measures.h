// Numbers about a tensor of tokens. All sums are in double, over float32 or float64 values, in the order of memory.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "addnorm/tensor/tensor.h"

namespace addnorm {

/// There was nothing to measure; null in JSON.
inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

/// Which rows of a tensor [..., width] are tokens: 1 counts, 0 is padding. Empty: all count.
using RowMask = std::vector<unsigned char>;
/// Rows of [sequences, tokens, ...] beyond the lengths are padding; without lengths none are.
RowMask rows_within(const std::vector<std::size_t>& lengths, std::size_t tokens);

struct Moments {
  double rms = 0;     ///< sqrt(mean of x^2)
  double mean = 0;    ///< of x
  double spread = 0;  ///< RMS of x - m over RMS of x, m the mean of every feature over all tokens; 0 where x is 0
};
Moments moments(const Tensor& x, const RowMask& rows);

/// Sum of squares in double, in four sums that are added at the end: one addition need not wait for the one before.
template <class T>
double sum_of_squares(const T* x, std::size_t n) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  const auto square = [&](std::size_t i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); };
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    s0 += square(i);
    s1 += square(i + 1);
    s2 += square(i + 2);
    s3 += square(i + 3);
  }
  for (; i < n; ++i) s0 += square(i);
  return (s0 + s1) + (s2 + s3);
}

double norm(const Tensor& x);  ///< sqrt of the sum of squares, all rows
double rms(const Tensor& x, const RowMask& rows);
/// A mean that is made of several batches.
struct RunningMean {
  double sum = 0, count = 0;
  void operator+=(const RunningMean& more) { sum += more.sum, count += more.count; }
  double value() const { return count > 0 ? sum / count : kNotMeasured; }
};
/// cos(a, b) of every token; tokens where one of them is 0 are left out.
RunningMean cosines(const Tensor& a, const Tensor& b, const RowMask& rows);
/// Their mean. NaN without any.
double mean_cosine(const Tensor& a, const Tensor& b, const RowMask& rows);

}  // namespace addnorm
