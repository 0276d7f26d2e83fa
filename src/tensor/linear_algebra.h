// Eigenvalues and least squares in double, by Eigen: one thread, and the same bits for any number of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace addnorm {

/// A matrix [count, width], row-major.
struct RowMatrix {
  std::vector<double> values{};
  std::size_t count = 0, width = 0;
  const double* row(std::size_t r) const { return values.data() + r * width; }
};

/// Eigenvalues of a symmetric matrix [n, n], ascending. About 4/3 n^3 operations; off by some 1e-15 of the largest. NaN or
/// infinity inside: all NaN.
std::vector<double> symmetric_eigenvalues(const std::vector<double>& a, std::size_t n);

/// X^T X [width, width] or X X^T [count, count], whichever is smaller: both have the squares of X's singular values.
std::vector<double> smaller_gram(const RowMatrix& x);

/// W [width, columns] = argmin |X W - Y|^2 + ridge |W|^2 for Y [count, columns], ridge above 0. Solved over columns of X where
/// they are no more than its rows, else over its rows: X^T (X X^T + ridge)^-1 Y is the same. Empty: a value is not finite.
std::vector<double> ridge_solution(const RowMatrix& x, std::span<const double> y, std::size_t columns, double ridge);

/// X W [count, columns] for W [width, columns].
RowMatrix product(const RowMatrix& x, std::span<const double> w, std::size_t columns);

}  // namespace addnorm
