#include "tensor/linear_algebra.h"

#define EIGEN_DONT_PARALLELIZE  // threads are ours (core/parallel.h), and results do not depend on their number
#define EIGEN_MPL2_ONLY         // nothing under another licence
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::MatrixXd;

Eigen::Map<const Dense> seen(std::span<const double> values, std::size_t rows, std::size_t columns) {
  return {values.data(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns)};
}
Eigen::Map<const Dense> seen(const RowMatrix& x) { return seen(x.values, x.count, x.width); }

std::vector<double> values_of(const Dense& m) { return {m.data(), m.data() + m.size()}; }

/// Both halves.
MatrixXd gram(const RowMatrix& x, bool by_columns) {
  const auto n = static_cast<Eigen::Index>(by_columns ? x.width : x.count);
  MatrixXd g = MatrixXd::Zero(n, n);
  if (by_columns)
    g.selfadjointView<Eigen::Lower>().rankUpdate(seen(x).transpose());
  else
    g.selfadjointView<Eigen::Lower>().rankUpdate(seen(x));
  return g.selfadjointView<Eigen::Lower>();
}

}  // namespace

std::vector<double> symmetric_eigenvalues(const std::vector<double>& a, std::size_t n) {
  require(a.size() == n * n, "symmetric_eigenvalues: ", a.size(), " values for a matrix of ", n, " rows");
  if (n == 0) return {};
  const auto matrix = seen(a, n, n);
  const std::vector<double> unknown(n, std::numeric_limits<double>::quiet_NaN());
  if (!matrix.allFinite()) return unknown;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(matrix, Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success || !solver.eigenvalues().allFinite()) return unknown;
  return {solver.eigenvalues().begin(), solver.eigenvalues().end()};
}

std::vector<double> smaller_gram(const RowMatrix& x) { return values_of(gram(x, x.width <= x.count)); }

std::vector<double> ridge_solution(const RowMatrix& x, std::span<const double> y, std::size_t columns, double ridge) {
  require(y.size() == x.count * columns, "ridge_solution: ", y.size(), " targets for ", x.count, " rows of ", columns);
  const bool by_columns = x.width <= x.count;
  MatrixXd g = gram(x, by_columns);
  g.diagonal().array() += ridge;
  const Eigen::LLT<MatrixXd> factors(g);
  const auto targets = seen(y, x.count, columns);
  Dense w;
  if (by_columns)
    w = factors.solve(seen(x).transpose() * targets);
  else
    w = seen(x).transpose() * factors.solve(targets);
  if (factors.info() != Eigen::Success || !w.allFinite()) return {};
  return values_of(w);
}

RowMatrix product(const RowMatrix& x, std::span<const double> w, std::size_t columns) {
  require(w.size() == x.width * columns, "product: ", w.size(), " values for a matrix [", x.width, ", ", columns, "]");
  return {values_of(seen(x) * seen(w, x.width, columns)), x.count, columns};
}

}  // namespace addnorm
