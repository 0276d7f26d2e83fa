// The shape of a stream's values: outliers, how much alike its tokens are, ranks, and what they still say of positions.
#pragma once

#include <cstddef>
#include <vector>

#include "addnorm/tensor/tensor.h"
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

/// X is tokens x features. Its Gram matrix is taken over the smaller side, so singular values below sqrt(n 2^-52) of the
/// largest, n its rows (some 1e-7), are lost in rounding and count as 0.
struct Ranks {
  double stable = 0;     ///< ||X||_F^2 / ||X||_2^2
  double effective = 0;  ///< exp(-sum p ln p), p_i = s_i / sum of s
};
/// Of all tokens; where features are more than 256, of at most 256 tokens, evenly spread. NaN for a matrix that is 0 or not
/// finite.
Ranks ranks(const Tensor& x, const RowMask& rows);

inline constexpr std::size_t kPositionBlocks = 8;  ///< of the sequence, or as many as it has tokens; chance is 1 over them

/// Share of tokens whose block of the sequence a ridge regression names, block = position * blocks / tokens:
///
///   W = argmin |(X - m) W - Y|^2 + 0.01 mean eigenvalue |W|^2,   Y one-hot by block, less its mean;   the block of the largest
///
/// Fitted on sequences 0, 2, 4, ..., counted on the others. x [sequences, tokens, width]; NaN for other shapes, one sequence, one
/// token, or values that are not finite. Solved in double over features where they are at most 256, else over 256 tokens, evenly
/// spread.
double position_accuracy(const Tensor& x, const RowMask& rows);

}  // namespace addnorm
