// Published wrong results of norms in other libraries, one test per report (docs/testing.md, id N-21).
// The name says repository and number; the values are those of the report, or the same kind where it used random ones.
// Reports on half precision (pytorch 189581 and 134106, and the bfloat16 part of 188372) have no test: arrays here are
// float32, and storage in 16 bits is out of scope (N-14).
#include <algorithm>
#include <cmath>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "support/every_target.h"
#include "support/norms/norm_case.h"
#include "support/norms/norm_oracle.h"

namespace addnorm {
namespace {

using test::normal_tensor;
using test::normal_values;
using test::NormCase;

class Regressions : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(Regressions);

/// A plain norm of these rows: gain 1, bias 0.
NormCase plain_norm(std::size_t rows, std::size_t width, std::vector<float> x, float eps = 1e-5f, bool layer = true) {
  NormCase c(rows, width);
  c.layer = layer;
  c.eps = eps;
  c.x = std::move(x);
  std::fill(c.f.begin(), c.f.end(), 0.0f);
  std::fill(c.gamma.begin(), c.gamma.end(), 1.0f);
  std::fill(c.beta.begin(), c.beta.end(), 0.0f);
  c.run();
  expect_forward_exact(c);
  expect_backward_exact(c);
  return c;
}

double variance(std::span<const float> values) {
  double mean = 0, square = 0;
  for (const float v : values) mean += static_cast<double>(v) / static_cast<double>(values.size());
  for (const float v : values) square += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
  return square / static_cast<double>(values.size());
}

TEST_P(Regressions, Pytorch51102_NormalPlusTwoThousandOfWidthFourHasVarianceOne) {
  const NormCase c = plain_norm(500, 4, normal_values(2000, 1, 2000));
  for (std::size_t r = 0; r < c.rows; ++r) {
    const double in = variance(c.row_of(c.sum, r));
    EXPECT_NEAR_ALL((std::vector{variance(c.row_of(c.y, r))}), (std::vector{in / (in + 1e-5)}), test::variance_tolerance())
        << "row " << r;
  }
}

TEST_P(Regressions, Pytorch40302_SmallSpreadAroundAHundredOverAWideRowKeepsItsVariance) {
  const NormCase c = plain_norm(4, 32768, normal_values(4 * 32768, 1, 100, 0.01));
  for (std::size_t r = 0; r < c.rows; ++r) {
    const double in = variance(c.row_of(c.sum, r));
    EXPECT_NEAR_ALL((std::vector{variance(c.row_of(c.y, r))}), (std::vector{in / (in + 1e-5)}), test::variance_tolerance());
  }
}

TEST_P(Regressions, Pytorch81090_CountingToSixMillionByThirtyTwoGivesTheSameRowEverywhere) {
  std::vector<float> x(32 * 1000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(6'368'000 + i);
  const NormCase c = plain_norm(1000, 32, std::move(x));
  for (std::size_t r = 1; r < c.rows; ++r) EXPECT_NEAR_ALL(c.row_of(c.y, r), c.row_of(c.y, 0), test::two_norms_tolerance());
}

TEST_P(Regressions, Pytorch108072_ARowOfFourteensIsZero) {
  EXPECT_EQ(plain_norm(1, 2, {14, 14}, 1e-6f).y, (std::vector{0.0f, 0.0f}));
}

TEST_P(Regressions, Pytorch188372_WidthOneAtAMillionGivesBiasAndNoWeightGradient) {
  NormCase c(3, 1);
  c.set_rows({1e6f});
  c.run();
  EXPECT_EQ(c.y, std::vector(3, c.beta[0]));
  EXPECT_EQ(c.dgamma[0], 0.0f);
}

TEST_P(Regressions, Pytorch192016And193016_WeightGradientsOfMoreThan65536RowsCountThemAll) {
  NormCase c(65537 + 3, 2);
  for (std::size_t r = 0; r < c.rows; ++r) c.x[2 * r] = 1, c.x[2 * r + 1] = -1;
  std::fill(c.f.begin(), c.f.end(), 0.0f);
  std::fill(c.dy.begin(), c.dy.end(), 1.0f);
  c.eps = 0;
  c.run();
  EXPECT_EQ(c.dbeta, (std::vector{65540.0f, 65540.0f}));
  EXPECT_EQ(c.dgamma, (std::vector{65540.0f, -65540.0f}));
}

TEST_P(Regressions, Onnxruntime28463_FortyThousandToFortyThousandAndThreeIsFinite) {
  for (const float start : {40000.0f, 80000.0f, 4e6f}) {
    const NormCase c = plain_norm(1, 4, {start, start + 1, start + 2, start + 3});
    EXPECT_NEAR_ALL(c.y, (std::vector{-1.3416354, -0.4472118, 0.4472118, 1.3416354}), test::two_norms_tolerance());
  }
}

TEST_P(Regressions, Onnxruntime21935_AConstant1234OfWidth256IsZero) {
  EXPECT_EQ(plain_norm(2, 256, std::vector(512, 1234.0f)).y, std::vector(512, 0.0f));
}

TEST_P(Regressions, Onnxruntime28442_AResidualStreamThatHasGrownDoesNotOverflowTheSumOfSquares) {
  for (const float largest : {180.0f, 60000.0f, 1e15f, 3e19f}) {
    std::vector<float> x = normal_values(3584, 2);
    x[1000] = largest;
    plain_norm(1, 3584, x, 1e-6f, false);
    plain_norm(1, 3584, x, 1e-6f, true);
  }
}

TEST_P(Regressions, Mlx2238_ValuesAround1449AreFinite) {
  const NormCase c =
      plain_norm(1, 16,
                 {1449.57056f, 1448.87415f, 1450.65039f, 1449.26331f, 1449.77637f, 1449.31714f, 1449.32971f, 1449.07788f,
                  1449.21814f, 1449.43298f, 1449.16052f, 1449.41333f, 1449.79333f, 1450.06665f, 1449.77625f, 1450.36499f});
  const double in = variance(c.x);
  EXPECT_NEAR_ALL((std::vector{variance(c.y)}), (std::vector{in / (in + 1e-5)}), test::variance_tolerance());
}

TEST_P(Regressions, Burn5607_MeanTenThousandWithStepsOfAThousandth) {
  std::vector<float> x(64);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1e4f + static_cast<float>(i) * 1e-3f;
  plain_norm(1, 64, x);
}

TEST_P(Regressions, Burn1992_ARowOfZerosHasAFiniteGradient) {
  for (const bool layer : {true, false}) {
    const NormCase c = plain_norm(2, 12, std::vector(24, 0.0f), 1e-5f, layer);
    for (const float d : c.dx) EXPECT_TRUE(std::isfinite(d));
  }
}

TEST_P(Regressions, DeepSpeed581_AnEpsOf1eMinus12Counts) {
  const NormCase c = plain_norm(1, 2, {1e-6f, -1e-6f}, 1e-12f);
  const double half = 1 / std::sqrt(2.0);
  EXPECT_NEAR_ALL(c.y, (std::vector{half, -half}), test::norm_tolerance());
}

TEST_P(Regressions, Pyg2917_EpsOutsideTheRootHasNoNaNGradientWhereNothingVaries) {
  std::vector<float> zeros(8), ones(8, 1.0f), y(8), rstd(2), dx(8);
  add_rms_norm(
      {.rows = 2, .width = 4, .x = zeros.data(), .eps_place = EpsPlace::outside_root, .y = y.data(), .rstd = rstd.data()});
  add_rms_norm_grad({.rows = 2,
                     .width = 4,
                     .dy = ones.data(),
                     .sum = zeros.data(),
                     .rstd = rstd.data(),
                     .eps_place = EpsPlace::outside_root,
                     .dx = dx.data()});
  EXPECT_NEAR_ALL(dx, std::vector<double>(8, 1e5), test::gradient_tolerance());
  const NormCase constant = plain_norm(2, 4, std::vector(8, 3.0f));
  for (const float d : constant.dx) EXPECT_TRUE(std::isfinite(d));
}

TEST_P(Regressions, TimVx589_EpsIsNotSilentlyZero) {
  for (const bool layer : {true, false}) {
    const NormCase with = plain_norm(1, 4, {1, -1, 1, -1}, 3.0f, layer);
    EXPECT_EQ(with.y, (std::vector{0.5f, -0.5f, 0.5f, -0.5f}));
  }
}

TEST_P(Regressions, Equinox314_RoundingNeverMakesTheVarianceNegative) {
  for (const float centre : {1.0f, 777.77f, 1e5f, 1e7f, 3e20f})
    for (const std::size_t width : {3u, 16u, 100u, 1000u}) {
      std::vector<float> x(width, centre);
      x[width / 2] = std::nextafter(centre, 2 * centre);
      for (const float y : plain_norm(1, width, x, 1e-12f).y) EXPECT_TRUE(std::isfinite(y));
    }
}

TEST_P(Regressions, Paddle35480_ABatchOfOneRow) {
  for (const std::size_t width : {1u, 5u, 1000u}) plain_norm(1, width, normal_values(width, 3));
}

/// Batch norm in training, as a user gets it: 64 channels, means of +-5, deviations of 0.1.
TEST_P(Regressions, TtMetal45968_BatchNormOfChannelsFarFromZeroHasVarianceOne) {
  const std::size_t rows = 2 * 32 * 32, channels = 64;
  std::vector<float> x = normal_values(rows * channels, 1, 0, 0.1);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += i % 2 == 0 ? 5.0f : -5.0f;
  const Var input(Tensor::of({rows, channels}, x)), gamma(Tensor::full({channels}, 1)), beta(Tensor::full({channels}, 0));
  Tensor running_mean = Tensor::zeros({channels}), running_var = Tensor::full({channels}, 1);
  const Tensor y = batch_norm(input, gamma, beta, running_mean, running_var).value();
  for (std::size_t c = 0; c < channels; ++c) {
    std::vector<float> in(rows), out(rows);
    for (std::size_t r = 0; r < rows; ++r) in[r] = x[r * channels + c], out[r] = y.values<float>()[r * channels + c];
    const double spread = variance(in);
    EXPECT_NEAR_ALL((std::vector{variance(out)}), (std::vector{spread / (spread + 1e-5)}), test::variance_tolerance());
  }
}

/// x, gamma, beta of layer_norm and its gradients, as a user gets them.
struct Trained {
  Var x, gamma, beta, y;
  Tensor dy;
  Trained(const Shape& shape, std::uint64_t seed)
      : x(normal_tensor(shape, seed), true),
        gamma(normal_tensor({shape.back()}, seed + 1), true),
        beta(normal_tensor({shape.back()}, seed + 2), true),
        y(layer_norm(x, gamma, beta)),
        dy(normal_tensor(shape, seed + 3)) {
    backward(y, dy);
  }
};

TEST_P(Regressions, FlagGems5392_GradientsOfInputsWithMoreThanTwoAxes) {
  const Trained four({2, 3, 5, 7}, 1), two({30, 7}, 1);
  EXPECT_EQ(four.x.grad().shape(), (Shape{2, 3, 5, 7}));
  EXPECT_SAME_BITS(four.y.value().values<float>(), two.y.value().values<float>());
  EXPECT_SAME_BITS(four.x.grad().values<float>(), two.x.grad().values<float>());
  EXPECT_SAME_BITS(four.gamma.grad().values<float>(), two.gamma.grad().values<float>());
  const Trained one({7}, 5), row({1, 7}, 5);
  EXPECT_SAME_BITS(one.x.grad().values<float>(), row.x.grad().values<float>());
}

TEST_P(Regressions, Oneflow6149_GradientsOfGammaAndBetaAreNotSwapped) {
  const Trained t({40, 6}, 1);
  std::vector<double> dgamma(6), dbeta(6);
  for (std::size_t r = 0; r < 40; ++r) {
    const auto row = test::exact_norm(t.x.value().values<float>().subspan(r * 6, 6), true, 1e-5L);
    for (std::size_t i = 0; i < 6; ++i) {
      dgamma[i] += static_cast<double>(t.dy.values<float>()[r * 6 + i]) * row.xhat[i];
      dbeta[i] += static_cast<double>(t.dy.values<float>()[r * 6 + i]);
    }
  }
  EXPECT_NEAR_ALL(t.gamma.grad().values<float>(), dgamma, test::reduction_tolerance(40));
  EXPECT_NEAR_ALL(t.beta.grad().values<float>(), dbeta, test::reduction_tolerance(40));
}

TEST_P(Regressions, Cs249r1504_GammaAndBetaReallyReceiveGradients) {
  const Trained t({4, 6}, 1);
  for (const Var& parameter : {t.gamma, t.beta}) {
    ASSERT_TRUE(parameter.grad().defined());
    for (const float g : parameter.grad().values<float>()) EXPECT_NE(g, 0.0f);
  }
  // The same when x is data that needs no gradient: the op must not decide by its first input.
  const Var x(normal_tensor({4, 6}, 1)), gamma(normal_tensor({6}, 2), true), beta(normal_tensor({6}, 3), true);
  backward(layer_norm(x, gamma, beta), t.dy);
  EXPECT_SAME_BITS(gamma.grad().values<float>(), t.gamma.grad().values<float>());
  EXPECT_FALSE(x.grad().defined());
}

}  // namespace
}  // namespace addnorm
