// Measures of the full set on data whose answer is known.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "probe/measures/token_measures.h"
#include "support/near.h"
#include "tensor/linear_algebra.h"

namespace addnorm {
namespace {

using test::normal_tensor;

/// Eigenvalues and ranks in double: some hundred rotations of values of size 1.
constexpr double kEigenvalueError = 1e-12;
/// Moments of 4000 draws per feature, averaged over 8: a deviation of the kurtosis of sqrt(24 / 4000 / 8) = 0.027; four.
constexpr double kKurtosisError = 0.11;
/// A share of 256 guesses right: a deviation of sqrt(1/8 * 7/8 / 256) = 0.021; five.
constexpr double kChanceError = 0.105;

/// Two reflections: H = I - 2 v v^T / |v|^2.
std::vector<double> reflected(const std::vector<double>& rows, std::size_t width, std::uint64_t seed) {
  const Tensor v = normal_tensor({width}, seed, DType::f64);
  double squares = 0;
  for (const double e : v.values<double>()) squares += e * e;
  std::vector<double> out = rows;
  for (std::size_t r = 0; r < rows.size() / width; ++r) {
    double dot = 0;
    for (std::size_t i = 0; i < width; ++i) dot += rows[r * width + i] * v.data<double>()[i];
    for (std::size_t i = 0; i < width; ++i) out[r * width + i] -= 2 * dot / squares * v.data<double>()[i];
  }
  return out;
}
std::vector<double> transposed(const std::vector<double>& a, std::size_t width) {
  const std::size_t rows = a.size() / width;
  std::vector<double> out(a.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t i = 0; i < width; ++i) out[i * rows + r] = a[r * width + i];
  return out;
}
/// A matrix [rows, width] with these singular values: a diagonal, turned on both sides.
Tensor with_singular_values(std::size_t rows, std::size_t width, const std::vector<double>& s) {
  std::vector<double> a(rows * width, 0.0);
  for (std::size_t i = 0; i < s.size(); ++i) a[i * width + i] = s[i];
  a = reflected(reflected(a, width, 1), width, 2);
  a = transposed(reflected(reflected(transposed(a, width), rows, 3), rows, 4), rows);
  return Tensor::of({rows, width}, a);
}

TEST(Eigenvalues, AreThoseOfATurnedDiagonal) {
  for (const std::size_t n : {1u, 2u, 3u, 17u, 64u}) {
    std::vector<double> diagonal(n);
    for (std::size_t i = 0; i < n; ++i) diagonal[i] = static_cast<double>(i) - 3;  // some below 0, one 0
    // H D H^T: the same reflections on both sides.
    std::vector<double> a(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) a[i * n + i] = diagonal[i];
    for (const std::uint64_t seed : {5u, 6u}) a = reflected(transposed(reflected(a, n, seed), n), n, seed);
    const std::vector<double> got = symmetric_eigenvalues(a, n);
    ASSERT_EQ(got.size(), n);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(got[i], diagonal[i], kEigenvalueError * 64) << n;
  }
  EXPECT_TRUE(symmetric_eigenvalues({}, 0).empty());
}

TEST(Eigenvalues, AreNoNumbersOfAMatrixThatHoldsNone) {
  const double nan = std::nan("");
  for (const double v : symmetric_eigenvalues({1, nan, nan, 1}, 2)) EXPECT_TRUE(std::isnan(v));
  for (const double v : symmetric_eigenvalues({1, 0, 0, std::numeric_limits<double>::infinity()}, 2)) EXPECT_TRUE(std::isnan(v));
  EXPECT_TRUE(std::isnan(ranks(Tensor::full({3, 2}, nan), {}).stable));
}

TEST(Ranks, FollowFromKnownSingularValues) {
  const std::vector<double> s{4, 2, 1, 1};
  const double sum = 8, stable = (16 + 4 + 1 + 1) / 16.0;
  double entropy = 0;
  for (const double v : s) entropy -= v / sum * std::log(v / sum);
  for (const auto& [rows, width] : {std::pair<std::size_t, std::size_t>{9, 5}, {5, 9}, {4, 4}, {200, 20}}) {
    const Ranks got = ranks(with_singular_values(rows, width, s), {});
    EXPECT_NEAR(got.stable, stable, kEigenvalueError * 10) << rows;
    EXPECT_NEAR(got.effective, std::exp(entropy), 1e-6) << rows;  // roots of what rounding leaves of 0
  }
}

TEST(Ranks, AreOneWhereAllTokensPointOneWayAndAllWhereNoneDo) {
  Tensor alike({6, 4});
  for (std::size_t i = 0; i < 24; ++i) alike.data<float>()[i] = static_cast<float>((i / 4 + 1) * (i % 4 + 1));
  EXPECT_NEAR(ranks(alike, {}).stable, 1, kEigenvalueError);
  EXPECT_NEAR(ranks(alike, {}).effective, 1, 1e-6);
  Tensor apart = Tensor::zeros({4, 4});
  for (std::size_t i = 0; i < 4; ++i) apart.data<float>()[i * 5] = 3;
  EXPECT_NEAR(ranks(apart, {}).stable, 4, kEigenvalueError);
  EXPECT_NEAR(ranks(apart, {}).effective, 4, kEigenvalueError);
  EXPECT_TRUE(std::isnan(ranks(Tensor::zeros({4, 4}), {}).stable));
}

TEST(Ranks, OfWideStreamsAreOf256Tokens) {
  Tensor x = Tensor::zeros({600, 300});
  for (std::size_t r = 0; r < 600; ++r) x.data<float>()[r * 300 + r % 300] = 1;
  EXPECT_LE(ranks(x, {}).effective, 256 * (1 + kEigenvalueError));
  EXPECT_GT(ranks(x, {}).effective, 100);
}

TEST(Kurtosis, IsThatOfKnownDistributions) {
  const std::size_t rows = 4000, width = 8;
  EXPECT_NEAR(kurtosis(normal_tensor({rows, width}, 1), {}), 3, kKurtosisError);
  Tensor even({rows, width}), two({rows, width});
  for (std::size_t i = 0; i < rows * width; ++i) {
    even.data<float>()[i] = static_cast<float>(random_word(7, 0, static_cast<std::uint32_t>(i))) * 0x1p-32f;
    two.data<float>()[i] = i / width % 2 ? 1.0f : 5.0f;
  }
  EXPECT_NEAR(kurtosis(even, {}), 1.8, kKurtosisError);
  EXPECT_NEAR(kurtosis(two, {}), 1, 1e-12);
  Tensor one = Tensor::zeros({10, 1});
  one.data<float>()[3] = 1;  // (0.9^4 + 9 0.1^4) / 10 over 0.09^2
  EXPECT_NEAR(kurtosis(one, {}), 8.1111111111111111, 1e-9);
  EXPECT_TRUE(std::isnan(kurtosis(Tensor::full({5, 3}, 0.1), {})));
}

TEST(MaxOverMedian, SeesOneLargeValue) {
  Tensor x({1, 5});
  const float values[] = {1, -2, 3, -100, 2};
  std::copy(values, values + 5, x.data<float>());
  EXPECT_DOUBLE_EQ(max_over_median(x, {}), 50);
  EXPECT_TRUE(std::isnan(max_over_median(Tensor::zeros({2, 2}), {})));
  EXPECT_TRUE(std::isnan(max_over_median(Tensor::full({2, 2}, std::nan("")), {})));
}

TEST(TokenSimilarity, IsTheMeanCosineOfPairs) {
  const std::size_t rows = 7, width = 5;
  const Tensor x = normal_tensor({rows, width}, 3);
  double sum = 0, pairs = 0;
  for (std::size_t a = 0; a < rows; ++a)
    for (std::size_t b = 0; b < rows; ++b) {
      if (a == b) continue;
      double ab = 0, aa = 0, bb = 0;
      for (std::size_t i = 0; i < width; ++i) {
        const double u = x.data<float>()[a * width + i], v = x.data<float>()[b * width + i];
        ab += u * v;
        aa += u * u;
        bb += v * v;
      }
      sum += ab / std::sqrt(aa * bb);
      ++pairs;
    }
  EXPECT_NEAR(token_similarity(x, {}), sum / pairs, 1e-12);
  RowMask two(rows, 0);
  two[1] = two[4] = 1;
  EXPECT_NEAR(token_similarity(x, two),
              mean_cosine(Tensor::of({1, width}, x.values<float>().subspan(1 * width, width)),
                          Tensor::of({1, width}, x.values<float>().subspan(4 * width, width)), {}),
              1e-12);
  EXPECT_TRUE(std::isnan(token_similarity(normal_tensor({1, 4}, 1), {})));
}

/// [sequences, tokens, width]: one-hot positions plus noise.
Tensor placed_stream(std::size_t sequences, std::size_t tokens, std::size_t width, double position, double noise) {
  Tensor x = normal_tensor({sequences, tokens, width}, 11);
  for (std::size_t i = 0; i < x.elements(); ++i) {
    const bool here = i / width % tokens == i % width;
    x.data<float>()[i] = static_cast<float>(noise) * x.data<float>()[i] + (here ? static_cast<float>(position) : 0.0f);
  }
  return x;
}

TEST(PositionAccuracy, IsOneForOneHotPositionsAndChanceWithoutAny) {
  EXPECT_DOUBLE_EQ(position_accuracy(placed_stream(4, 16, 16, 1, 0), {}), 1);
  EXPECT_DOUBLE_EQ(position_accuracy(placed_stream(16, 32, 40, 1, 0.01), {}), 1);
  EXPECT_NEAR(position_accuracy(placed_stream(16, 32, 40, 0, 1), {}), 1.0 / 8, kChanceError);
  EXPECT_NEAR(position_accuracy(Tensor::full({4, 16, 8}, 1), {}), 1.0 / 8, kChanceError);  // all alike
}

TEST(PositionAccuracy, IsTheSameOverTokensAsOverFeatures) {
  EXPECT_DOUBLE_EQ(position_accuracy(placed_stream(4, 16, 300, 1, 0), {}), 1);  // more than 256 features
  EXPECT_NEAR(position_accuracy(placed_stream(16, 32, 300, 0, 1), {}), 1.0 / 8, kChanceError);
}

TEST(PositionAccuracy, NeedsTwoSequencesOfTokens) {
  EXPECT_TRUE(std::isnan(position_accuracy(normal_tensor({1, 16, 4}, 1), {})));
  EXPECT_TRUE(std::isnan(position_accuracy(normal_tensor({8, 4}, 1), {})));
  EXPECT_TRUE(std::isnan(position_accuracy(Tensor::full({2, 8, 4}, std::nan("")), {})));
}

TEST(FeatureMoments, AreThoseOfEveryFeature) {
  Tensor x({3, 2});
  const float values[] = {1, 0, 2, 0, 6, 3};
  std::copy(values, values + 6, x.data<float>());
  const FeatureMoments m = feature_moments(x, {});
  EXPECT_DOUBLE_EQ(m.mean[0], 3);
  EXPECT_DOUBLE_EQ(m.mean[1], 1);
  EXPECT_DOUBLE_EQ(m.deviation[0], std::sqrt(14.0 / 3));
  EXPECT_DOUBLE_EQ(m.deviation[1], std::numbers::sqrt2);
}

}  // namespace
}  // namespace addnorm
