// Singular values of a matrix of tokens, and the two ranks that are read from them.
#pragma once

#include <cstddef>
#include <vector>

#include "addnorm/tensor/tensor.h"
#include "probe/measures/measures.h"

namespace addnorm {

/// Eigenvalues of a symmetric matrix [n, n], row-major, ascending: Householder to three diagonals, then QL with implicit shifts.
/// About 4/3 n^3 operations in double; off by some 1e-15 of the largest. NaN or infinity inside: all NaN.
std::vector<double> symmetric_eigenvalues(std::vector<double> a, std::size_t n);

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
struct TokenRows {
  std::vector<double> values{};
  std::size_t count = 0, width = 0;
  const double* row(std::size_t r) const { return values.data() + r * width; }
};
TokenRows sampled_rows(const Tensor& x, const RowMask& rows, std::size_t most);
/// X^T X [width, width], or X X^T [count, count].
std::vector<double> gram_of_features(const TokenRows& x);
std::vector<double> gram_of_tokens(const TokenRows& x);

}  // namespace addnorm
