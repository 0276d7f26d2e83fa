// The shape of a stream's values: outliers, and how much alike its tokens are.
#pragma once

#include "probe/measures/measures.h"

namespace addnorm {

/// max|x| / median|x| over all elements of all tokens (the upper one of two medians). NaN where the median is 0.
double max_over_median(const Tensor& x, const RowMask& rows);

/// Mean over features of m4 / m2^2, m_k = mean over tokens of (x - mean)^k: 3 for a normal distribution, the number of tokens
/// where one of them stands out. Features that are the same in all tokens are left out; NaN without any other.
double kurtosis(const Tensor& x, const RowMask& rows);

/// Mean of cos(x_s, x_t) over all pairs s != t of tokens, of all sequences: 1 where all point one way. Tokens that are 0 are left
/// out; NaN for fewer than two. From the sum of the unit vectors, in one pass: |sum|^2 = n + n (n - 1) mean.
double token_similarity(const Tensor& x, const RowMask& rows);

/// By feature, over tokens.
struct FeatureMoments {
  std::vector<double> mean{};
  std::vector<double> deviation{};  ///< divided by the number of tokens
};
FeatureMoments feature_moments(const Tensor& x, const RowMask& rows);

}  // namespace addnorm
