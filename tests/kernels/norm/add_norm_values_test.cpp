// The fused Add & Norm on unusual values: constant, tiny, huge and broken rows, every eps, strange parameters. Ids: N-02 ...
// N-09.
#include <xmmintrin.h>

#include <cfloat>
#include <cmath>
#include <limits>

#include "addnorm/core/parallel.h"
#include "support/every_target.h"
#include "support/norms/norm_case.h"

namespace addnorm {
namespace {

using test::NormCase;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

class AddNormValues : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(AddNormValues);

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}
bool all_nan(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isnan(v); });
}
bool all_zero(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return v == 0.0f; });
}

TEST_P(AddNormValues, N02_ARowOfEqualValuesGivesExactlyBetaAndAddsNothingToDgamma) {
  for (const float value : {0.0f, 1.0f, 0.1f, 14.0f, 1234.0f, 3.3e7f, 1e20f, FLT_MAX, -0.1f, -FLT_MAX})
    for (const std::size_t width : {2u, 3u, 8u, 17u, 256u, 1000u})
      for (const bool with_f : {true, false}) {
        SCOPED_TRACE(concat("rows of ", value, ", width ", width, with_f ? ", f = 0" : ", no f"));
        NormCase c(3, width);
        c.set_rows(std::vector(width, value));
        AddNorm args = c.forward_args();
        if (!with_f) args.f = nullptr;
        c.forward(args);
        c.backward(c.backward_args());
        for (std::size_t r = 0; r < c.rows; ++r) EXPECT_NEAR_ALL(c.row_of(c.y, r), c.beta, test::exact());
        EXPECT_TRUE(all_finite(c.dx));
        EXPECT_TRUE(all_zero(c.dgamma));
        EXPECT_EQ(c.mean[0], static_cast<double>(value));
      }
}

TEST_P(AddNormValues, N03_WidthOneGivesBetaAndNoGradientButThatOfTheSum) {
  for (const float value : {0.0f, 1.0f, 0.1f, -7.3f, 1e6f, 3e38f}) {
    NormCase c(5, 1);
    c.set_rows({value});
    c.run();
    for (const float y : c.y) EXPECT_EQ(y, c.beta[0]);
    EXPECT_SAME_BITS(c.dx, c.dsum);
    EXPECT_EQ(c.dgamma[0], 0.0f);

    AddNormGrad without_dsum = c.backward_args();
    without_dsum.dsum = nullptr;
    c.backward(without_dsum);
    EXPECT_TRUE(all_zero(c.dx));
  }
}

TEST_P(AddNormValues, N04_NoColumnsOrNoRowsIsAnEmptyResultWithZeroSums) {
  for (const bool layer : {true, false})
    for (const auto& [rows, width] : {std::pair<std::size_t, std::size_t>{0, 5}, {3, 0}, {0, 0}, {130, 0}}) {
      SCOPED_TRACE(concat(rows, " x ", width));
      NormCase c(rows, width);
      c.layer = layer;
      std::fill(c.dgamma.begin(), c.dgamma.end(), kNaN);
      std::fill(c.dbeta.begin(), c.dbeta.end(), kNaN);
      float da = kNaN, db = kNaN;
      AddNormGrad grad = c.backward_args();
      grad.x = c.x.data();
      grad.f = c.f.data();
      grad.da = &da;
      grad.db = &db;
      c.forward(c.forward_args());
      c.backward(grad);
      EXPECT_TRUE(all_zero(c.dgamma));
      EXPECT_TRUE(all_zero(c.dbeta));
      EXPECT_EQ(da, 0.0f);
      EXPECT_EQ(db, 0.0f);
    }
}

TEST_P(AddNormValues, N05_ABrokenValueMakesItsRowNaNAndTouchesNoOther) {
  const std::vector<std::vector<float>> faults{{kNaN}, {kInf}, {-kInf}, {kInf, -kInf}, {kInf, kInf}};
  for (const bool layer : {true, false})
    for (const std::size_t width : {3u, 8u, 19u, 65u})
      for (const auto& fault : faults)
        for (const std::size_t where : {std::size_t{0}, width - 2}) {
          SCOPED_TRACE(concat(layer ? "layer" : "rms", " width ", width, ", ", fault[0], " at ", where));
          NormCase good(6, width);
          good.layer = layer;
          good.run();
          NormCase bad(6, width);
          bad.layer = layer;
          for (std::size_t i = 0; i < fault.size(); ++i) bad.x[2 * width + where + i] = fault[i];
          bad.run();
          for (std::size_t r = 0; r < 6; ++r) {
            if (r == 2) continue;
            EXPECT_SAME_BITS(bad.row_of(bad.y, r), good.row_of(good.y, r));
            EXPECT_SAME_BITS(bad.row_of(bad.sum, r), good.row_of(good.sum, r));
            EXPECT_SAME_BITS(bad.row_of(bad.dx, r), good.row_of(good.dx, r));
          }
          EXPECT_TRUE(all_nan(bad.row_of(bad.y, 2)));
          EXPECT_TRUE(all_nan(bad.row_of(bad.dx, 2)));
        }
}

/// Rows of +-1e-40, far below the smallest normal float.
NormCase denormal_case(bool layer) {
  NormCase c(200, 24);
  c.layer = layer;
  for (std::size_t i = 0; i < c.x.size(); ++i) c.x[i] = i % 3 == 0 ? 1e-40f : -1e-40f;
  std::fill(c.f.begin(), c.f.end(), 0.0f);
  return c;
}

TEST_P(AddNormValues, N06_DenormalRowsAreComputedAndTheModeBitsOfEveryThreadStay) {
  const int threads_before = threads();
  set_threads(3);
  for (const bool layer : {true, false}) {
    NormCase c = denormal_case(layer);
    const unsigned before = _mm_getcsr();
    std::vector<unsigned> workers_before(3), workers_after(3);
    parallel_blocks(3, [&](std::size_t block) { workers_before[block] = _mm_getcsr() & ~0x3fu; });
    c.run();
    parallel_blocks(3, [&](std::size_t block) { workers_after[block] = _mm_getcsr() & ~0x3fu; });
    EXPECT_EQ(_mm_getcsr() & ~0x3fu, before & ~0x3fu);  // but for the sticky exception flags
    EXPECT_EQ(workers_before, workers_after);
    expect_forward_exact(c);
    expect_backward_exact(c);
  }
  set_threads(threads_before);
}

TEST_P(AddNormValues, N06_FlushingDenormalsToZeroChangesNothingBeyondTheTolerance) {
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
  const int threads_before = threads();
  set_threads(1);  // the bits belong to this thread
  for (const bool layer : {true, false}) {
    NormCase c = denormal_case(layer);
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | kFlushToZero | kDenormalsAreZero);
    c.run();
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(after & (kFlushToZero | kDenormalsAreZero), kFlushToZero | kDenormalsAreZero);
    test::ExactNorm exact = exact_results(c);
    EXPECT_NEAR_ALL(c.sum, exact.sum, test::flushed_tolerance());
    exact.sum = c.sum;
    expect_forward_exact(c, exact);
    expect_backward_exact(c, exact);
  }
  set_threads(threads_before);
}

TEST_P(AddNormValues, N06_DenormalRowsWithoutEpsAreNormalisedLikeAnyOther) {
  for (const bool layer : {true, false}) {
    NormCase c = denormal_case(layer);
    c.eps = 0;
    c.forward(c.forward_args());
    expect_forward_exact(c);
  }
}

TEST_P(AddNormValues, N07_HugeRowsStayFiniteAndExact) {
  for (const bool layer : {true, false})
    for (const float size : {1e19f, 1e30f, 3e38f})
      for (const std::size_t width : {2u, 7u, 64u, 769u})
        for (const int signs : {0, 1, 2}) {  // all positive, alternating, one negative at the end
          SCOPED_TRACE(concat(size, " signs ", signs));
          NormCase c(2, width);
          c.layer = layer;
          std::vector<float> row(width);
          for (std::size_t i = 0; i < width; ++i) {
            const float share = static_cast<float>(1 + i % 5) / 5.0f;
            row[i] = size * share * ((signs == 1 && i % 2 == 1) || (signs == 2 && i + 1 == width) ? -1.0f : 1.0f);
          }
          c.set_rows(row);
          c.run();
          EXPECT_TRUE(all_finite(c.y));
          EXPECT_TRUE(all_finite(c.dx));
          EXPECT_TRUE(all_finite(c.dgamma));
          expect_forward_exact(c);
          expect_backward_exact(c);
        }
}

TEST_P(AddNormValues, N07_AHugeRowAmongOrdinaryOnesLeavesEveryRowAndEverySumExact) {
  for (const bool layer : {true, false})
    for (const std::size_t width : {7u, 64u, 300u})
      for (const std::size_t huge : {0u, 3u, 63u, 69u}) {
        SCOPED_TRACE(concat("row ", huge));
        NormCase c(70, width);
        c.layer = layer;
        for (std::size_t i = 0; i < width; ++i) c.x[huge * width + i] *= 1e38f;
        c.run();
        const auto exact = exact_results(c);
        expect_forward_exact(c, exact);
        expect_backward_exact(c, exact);

        std::vector<float> df(c.x.size());  // of its own: each row's gradient is handed on, not written in place
        AddNormGrad apart = c.backward_args();
        apart.df = df.data();
        c.backward(apart);
        expect_backward_exact(c, exact);
        EXPECT_SAME_BITS(df, c.dx);
      }
}

TEST_P(AddNormValues, N08_EveryEpsStandsInsideTheRoot) {
  for (const bool layer : {true, false})
    for (const float eps : {0.0f, 1e-12f, 1e-6f, 1e-5f, 0.1f, 10.0f})
      for (const double deviation : {1.0, 1e-3}) {
        NormCase c(4, 37, 0, deviation);
        c.layer = layer;
        c.eps = eps;
        c.run();
        expect_forward_exact(c);
        expect_backward_exact(c);
      }
}

TEST_P(AddNormValues, N08_WithoutEpsARowThatDoesNotVaryIsNaN) {
  for (const bool layer : {true, false}) {
    NormCase c(2, 9);
    c.layer = layer;
    c.eps = 0;
    c.set_rows(std::vector(9, layer ? 3.0f : 0.0f));
    c.forward(c.forward_args());
    EXPECT_TRUE(all_nan(c.y));
    EXPECT_TRUE(all_finite(c.sum));
  }
}

TEST_P(AddNormValues, N09_AbsentGainAndBiasStandForOneAndZero) {
  for (const bool layer : {true, false}) {
    NormCase given(5, 21), absent(5, 21);
    given.layer = absent.layer = layer;
    std::fill(given.gamma.begin(), given.gamma.end(), 1.0f);
    std::fill(given.beta.begin(), given.beta.end(), 0.0f);
    given.run();
    AddNorm forward = absent.forward_args();
    AddNormGrad backward = absent.backward_args();
    forward.gamma = forward.beta = nullptr;
    backward.gamma = nullptr;
    absent.forward(forward);
    absent.backward(backward);
    EXPECT_NEAR_ALL(absent.y, given.y, test::exact());
    EXPECT_SAME_BITS(absent.dx, given.dx);
    EXPECT_SAME_BITS(absent.dgamma, given.dgamma);
  }
}

TEST_P(AddNormValues, N09_ZeroNegativeAndHugeGainsAndCancellingBiases) {
  for (const bool layer : {true, false})
    for (const float gain : {0.0f, -1.0f, -2.5f, 1e30f, -1e30f})
      for (const float bias : {0.0f, -1e30f, 1e30f, 7.0f}) {
        NormCase c(4, 33);
        c.layer = layer;
        for (float& g : c.gamma) g *= gain;
        std::fill(c.beta.begin(), c.beta.end(), bias);
        c.forward(c.forward_args());
        EXPECT_TRUE(all_finite(c.y));
        expect_forward_exact(c);
        if (gain == 0.0f) {
          EXPECT_NEAR_ALL(c.row_of(c.y, 1), c.beta, test::exact());
        }
      }
  // a * x = -b up to rounding: what is left is held to 4 ULP of the terms.
  NormCase c(1, 33);
  c.forward(c.forward_args());
  for (std::size_t i = 0; i < c.width; ++i) c.beta[i] = -(c.y[i] - c.beta[i]);
  c.run();
  expect_forward_exact(c);
  expect_backward_exact(c);
}

}  // namespace
}  // namespace addnorm
