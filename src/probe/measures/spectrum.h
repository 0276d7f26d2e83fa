// Singular values of a matrix of tokens, and the two ranks that are read from them.
#pragma once

#include <cstddef>

#include "addnorm/tensor/tensor.h"
#include "probe/measures/measures.h"
#include "tensor/linear_algebra.h"

namespace addnorm {

/// X is tokens x features. Its Gram matrix is taken over the smaller side, so singular values below sqrt(n 2^-52) of the
/// largest, n its rows (some 1e-7), are lost in rounding and count as 0.
struct Ranks {
  double stable = 0;     ///< ||X||_F^2 / ||X||_2^2
  double effective = 0;  ///< exp(-sum p ln p), p_i = s_i / sum of s
};
inline constexpr std::size_t kMostGram = 256;  ///< rows of a Gram matrix: beyond, of as many tokens, evenly spread
/// NaN for a matrix that is 0 or not finite. Features more than kMostGram: of that many tokens; fewer: of all tokens.
Ranks ranks(const Tensor& x, const RowMask& rows);

/// Rows of tokens that count, as doubles, at most `most` of them, evenly spread. [count, width]
RowMatrix sampled_rows(const Tensor& x, const RowMask& rows, std::size_t most);

}  // namespace addnorm
