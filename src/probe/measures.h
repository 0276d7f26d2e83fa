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
/// Rows of [sequences, tokens, ...] behind the lengths are padding; no lengths: none is.
RowMask rows_within(const std::vector<std::size_t>& lengths, std::size_t tokens);

struct Moments {
  double rms = 0;     ///< sqrt(mean of x^2)
  double mean = 0;    ///< of x
  double spread = 0;  ///< RMS of x - m over RMS of x, m the mean of every feature over all tokens; 0 where x is 0
};
Moments moments(const Tensor& x, const RowMask& rows);

double norm(const Tensor& x);  ///< sqrt of the sum of squares, all rows
double rms(const Tensor& x, const RowMask& rows);
/// Mean over tokens of cos(a, b); tokens where one of them is 0 are left out. NaN without any.
double mean_cosine(const Tensor& a, const Tensor& b, const RowMask& rows);

}  // namespace addnorm
