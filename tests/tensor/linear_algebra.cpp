// Eigenvalues and least squares against LAPACK (NumPy 2.4.6: eigvalsh, and lstsq of X over sqrt(ridge) I). Inputs are eighths, so
// both read the same numbers.
#include "tensor/linear_algebra.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "addnorm/core/error.h"
#include "addnorm/core/parallel.h"

namespace addnorm {
namespace {

/// Values of size 1, some dozen of them in a sum: some hundred roundings of 1e-16.
constexpr double kLapackError = 1e-12;

RowMatrix made_up(std::size_t count, std::size_t width) {
  RowMatrix x{.count = count, .width = width};
  for (int r = 0; r < static_cast<int>(count); ++r)
    for (int c = 0; c < static_cast<int>(width); ++c) x.values.push_back(((r * 5 + c * 3 + r * c) % 13 - 6) / 8.0);
  return x;
}

std::vector<double> made_up_targets(std::size_t count) {
  std::vector<double> y;
  for (int r = 0; r < static_cast<int>(count); ++r)
    for (int c = 0; c < 2; ++c) y.push_back((r * 2 + c) % 5 / 4.0);
  return y;
}

void expect_all_near(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], kLapackError) << i;
}

TEST(LinearAlgebra, FindsTheEigenvaluesThatLapackFinds) {
  std::vector<double> a;
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) a.push_back(((i * 7 + j * 7 + i * j * 3) % 11 - 5) / 8.0);
  expect_all_near(symmetric_eigenvalues(a, 12),
                  {-2.7417202388027055, -1.5059097669946295, -1.2645260716519517, -0.9899649940745133, -0.8706429584827245,
                   -0.685649767432226, 0, 0.6402473708602661, 0.8617039647844729, 0.9693115944913107, 1.3220496086615603,
                   2.2651012586411423});
}

TEST(LinearAlgebra, FindsTheLeastSquaresThatLapackFinds) {
  expect_all_near(ridge_solution(made_up(10, 4), made_up_targets(10), 2, 0.5),
                  {0.07846379001485737, -0.3632490367266384, -0.41309998997478165, -0.3406044328755512, -0.25789760081019153,
                   -0.3179598290244637, -0.2432689980828559, -0.24559991273175957});
  expect_all_near(ridge_solution(made_up(4, 10), made_up_targets(4), 2, 0.5),  // over rows
                  {0.17955277620069512,  -0.14628446084979121, -0.09255029853625923, 0.13023287034818032,  -0.09191698921984101,
                   -0.26735470384864324, 0.23149240456320627,  -0.066854132169334,   -0.1868338485955868,  0.02072871428554028,
                   0.25550585123098984,  0.1491060604869805,   -0.1931501295507559,  0.016469730551917167, -0.015963914189546548,
                   0.0280358174881289,   0.3074454795935009,   0.2285363891674384,   -0.16850337356655373, -0.16515765098859186});
}

TEST(LinearAlgebra, TakesTheSmallerOfTheTwoGramMatrices) {
  const RowMatrix wide{.values = {1, 2, 3, 4, 5, 6}, .count = 2, .width = 3},
      tall{.values = {1, 4, 2, 5, 3, 6}, .count = 3, .width = 2};
  EXPECT_EQ(smaller_gram(wide), (std::vector<double>{14, 32, 32, 77}));
  EXPECT_EQ(smaller_gram(tall), (std::vector<double>{14, 32, 32, 77}));
}

TEST(LinearAlgebra, FindsNoSolutionOfWhatIsNoNumber) {
  RowMatrix x = made_up(10, 4);
  x.values[7] = std::nan("");
  EXPECT_TRUE(ridge_solution(x, made_up_targets(10), 2, 0.5).empty());
  x.values[7] = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(ridge_solution(x, made_up_targets(10), 2, 0.5).empty());
}

TEST(LinearAlgebra, HasTheSameBitsForAnyNumberOfThreads) {
  const RowMatrix x = made_up(400, 150);
  const auto solved = [&] { return ridge_solution(x, made_up_targets(400), 2, 0.5); };
  const int before = threads();
  set_threads(1);
  const std::vector<double> one = solved(), values = symmetric_eigenvalues(smaller_gram(x), 150);
  set_threads(4);
  EXPECT_EQ(solved(), one);
  EXPECT_EQ(symmetric_eigenvalues(smaller_gram(x), 150), values);
  set_threads(before);
}

TEST(LinearAlgebra, RefusesSizesThatDoNotFit) {
  EXPECT_THROW(symmetric_eigenvalues(std::vector<double>(5), 2), UsageError);
  EXPECT_THROW(ridge_solution(made_up(3, 2), made_up_targets(4), 2, 1), UsageError);
  EXPECT_THROW(product(made_up(3, 2), made_up_targets(4), 2), UsageError);
}

}  // namespace
}  // namespace addnorm
