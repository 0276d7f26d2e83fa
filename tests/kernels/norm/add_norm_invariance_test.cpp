// What must not change the result of the fused Add & Norm: shifts, scales, order, vector length, threads. Ids: N-11 ... N-13.
#include <cmath>
#include <numeric>

#include "addnorm/core/parallel.h"
#include "support/every_target.h"
#include "support/faults/guarded.h"
#include "support/norms/norm_case.h"
#include "support/norms/norm_oracle.h"

namespace addnorm {
namespace {

using test::NormCase;

class AddNormInvariance : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(AddNormInvariance);

/// Whole numbers: the sum with f = 0, and any shift or power-of-two scale of it, is exact.
void set_whole_numbers(NormCase& c, int range = 8) {
  for (std::size_t i = 0; i < c.x.size(); ++i) c.x[i] = static_cast<float>(static_cast<int>(i * 2654435761u >> 7) % range);
  std::fill(c.f.begin(), c.f.end(), 0.0f);
}

TEST_P(AddNormInvariance, N11_AddingAConstantToARowChangesNothing) {
  for (const float shift : {1.0f, -3.0f, 1000.0f, 1e6f}) {
    NormCase plain(8, 50), shifted(8, 50);
    set_whole_numbers(plain);
    set_whole_numbers(shifted);
    for (float& x : shifted.x) x += shift;
    plain.run();
    shifted.run();
    EXPECT_NEAR_ALL(shifted.y, plain.y, test::two_norms_tolerance());
    EXPECT_NEAR_ALL(shifted.dx, plain.dx, test::gradient_tolerance());
    EXPECT_NEAR_ALL(shifted.dgamma, plain.dgamma, test::gradient_tolerance());
  }
}

TEST_P(AddNormInvariance, N11_ScalingARowChangesNothingWithoutEps) {
  for (const bool layer : {true, false})
    for (const float scale : {0.125f, 4.0f, 1048576.0f}) {
      NormCase plain(8, 50), scaled(8, 50);
      for (NormCase* c : {&plain, &scaled}) {
        set_whole_numbers(*c);
        c->layer = layer;
        c->eps = 0;
        std::fill(c->dsum.begin(), c->dsum.end(), 0.0f);
      }
      for (float& x : scaled.x) x *= scale;
      plain.run();
      scaled.run();
      EXPECT_SAME_BITS(scaled.y, plain.y);
      for (float& d : scaled.dx) d *= scale;  // dx shrinks as x grows
      EXPECT_SAME_BITS(scaled.dx, plain.dx);
      EXPECT_SAME_BITS(scaled.dgamma, plain.dgamma);
    }
}

TEST_P(AddNormInvariance, N11_PermutingTheFeaturesPermutesTheResult) {
  constexpr std::size_t kWidth = 51;
  for (const bool layer : {true, false}) {
    NormCase plain(6, kWidth), moved(6, kWidth);
    plain.layer = moved.layer = layer;
    const auto from = [](std::size_t i) { return (i * 20 + 7) % kWidth; };  // 20 and 51 share no factor
    for (std::size_t i = 0; i < kWidth; ++i) {
      moved.gamma[i] = plain.gamma[from(i)];
      moved.beta[i] = plain.beta[from(i)];
      for (std::size_t r = 0; r < 6; ++r)
        for (auto matrix : {&NormCase::x, &NormCase::f, &NormCase::dy, &NormCase::dsum})
          (moved.*matrix)[r * kWidth + i] = (plain.*matrix)[r * kWidth + from(i)];
    }
    plain.run();
    moved.run();
    std::vector<float> y, dx, dgamma;
    for (std::size_t i = 0; i < 6 * kWidth; ++i) {
      y.push_back(plain.y[i / kWidth * kWidth + from(i % kWidth)]);
      dx.push_back(plain.dx[i / kWidth * kWidth + from(i % kWidth)]);
    }
    for (std::size_t i = 0; i < kWidth; ++i) dgamma.push_back(plain.dgamma[from(i)]);
    EXPECT_NEAR_ALL(moved.y, y, test::two_norms_tolerance());
    EXPECT_NEAR_ALL(moved.dx, dx, test::gradient_tolerance());
    EXPECT_NEAR_ALL(moved.dgamma, dgamma, test::gradient_tolerance());
  }
}

TEST_P(AddNormInvariance, N11_TheGradientIsOrthogonalToOnesAndWithoutEpsToTheNormedRow) {
  for (const bool layer : {true, false}) {
    NormCase c(5, 300);
    c.layer = layer;
    c.eps = 0;
    std::fill(c.dsum.begin(), c.dsum.end(), 0.0f);
    c.run();
    for (std::size_t r = 0; r < c.rows; ++r) {
      const auto row = test::exact_norm(c.row_of(c.sum, r), layer, 0);
      double ones = 0, along = 0;
      for (std::size_t i = 0; i < c.width; ++i) {
        ones += static_cast<double>(c.dx[r * c.width + i]);
        along += static_cast<double>(c.dx[r * c.width + i]) * row.xhat[i];
      }
      if (layer) {
        EXPECT_LE(std::abs(ones), test::reduction_tolerance(c.width).atol);
      }
      EXPECT_LE(std::abs(along), test::reduction_tolerance(c.width).atol);
    }
  }
}

struct ExactResults {
  std::vector<float> sum, y, dx, dgamma, dbeta;
};

/// Results in cache-line-aligned memory, so that streaming stores are possible where the width allows them.
ExactResults run_aligned(NormCase& c, Stores stores) {
  using test::Edge;
  test::Guarded<float> sum(c.x.size(), Edge::start), y(c.x.size(), Edge::start), dx(c.x.size(), Edge::start);
  AddNorm forward = c.forward_args();
  forward.sum = sum.data(), forward.y = y.data(), forward.stores = stores;
  c.forward(forward);
  AddNormGrad backward = c.backward_args();
  backward.sum = sum.data(), backward.dx = backward.df = dx.data(), backward.stores = stores;
  c.backward(backward);
  return {sum.values(), y.values(), dx.values(), c.dgamma, c.dbeta};
}

template <class Check>
void on_every_target_and_store(NormCase& c, const Check& check) {
  ExactResults first;
  for (const int64_t target : test::targets_here())
    for (const Stores stores : {Stores::regular, Stores::streaming}) {
      hwy::SetSupportedTargetsForTest(target);
      const ExactResults now = run_aligned(c, stores);
      if (first.y.empty()) first = now;
      SCOPED_TRACE(concat(hwy::TargetName(target), c.layer ? " layer" : " rms", " width ", c.width));
      check(now, first);
    }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(AddNorm, N12_WholeNumbersGiveTheSameForwardBitsForEveryVectorLengthAndKindOfStore) {
  for (const bool layer : {true, false})
    for (const std::size_t width : {1u, 5u, 16u, 64u, 100u, 768u, 1025u}) {
      NormCase c(66, width);
      c.layer = layer;
      set_whole_numbers(c);
      on_every_target_and_store(c, [](const ExactResults& now, const ExactResults& first) {
        EXPECT_SAME_BITS(now.sum, first.sum);
        EXPECT_SAME_BITS(now.y, first.y);
      });
    }
}

// Half of each row at 7, half at 3 (RMS: 2 and -2): mean 5, rstd 1/2, xhat +-1, so that backward too is exact in any order.
TEST(AddNorm, N12_ExactRowsGiveTheSameBitsOfEverythingForEveryVectorLengthAndKindOfStore) {
  for (const bool layer : {true, false})
    for (const std::size_t width : {2u, 6u, 16u, 30u, 64u, 100u, 768u, 1026u}) {
      NormCase c(66, width);
      c.layer = layer;
      c.eps = 0;
      std::fill(c.f.begin(), c.f.end(), 0.0f);
      for (std::size_t i = 0; i < c.x.size(); ++i) {
        const bool up = (i % width * 2 < width) == (i / width % 2 == 0);
        c.x[i] = (layer ? 5.0f : 0.0f) + (up ? 2.0f : -2.0f);
        c.dy[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
        c.dsum[i] = static_cast<float>(i % 3);
      }
      for (std::size_t i = 0; i < width; ++i) c.gamma[i] = 0.25f * static_cast<float>(1 + i % 7);
      on_every_target_and_store(c, [&](const ExactResults& now, const ExactResults& first) {
        for (auto result : {&ExactResults::sum, &ExactResults::y, &ExactResults::dx, &ExactResults::dgamma, &ExactResults::dbeta})
          EXPECT_SAME_BITS(now.*result, first.*result);
        EXPECT_EQ(now.y[0], c.gamma[0] + c.beta[0]);
      });
    }
}

/// Every result of one problem with coefficients per feature, dropout, and all gradients.
struct AllResults {
  std::vector<float> sum, y, dx, df, dgamma, dbeta, da, db;
};

AllResults run_all(const NormCase& c, bool scalar, std::size_t begin, std::size_t end) {
  const std::size_t rows = end - begin, n = rows * c.width, at = begin * c.width;
  AllResults out{std::vector<float>(n),
                 std::vector<float>(n),
                 std::vector<float>(n),
                 std::vector<float>(n),
                 std::vector<float>(c.width),
                 std::vector<float>(c.width),
                 std::vector<float>(scalar ? 1 : c.width),
                 std::vector<float>(scalar ? 1 : c.width)};
  std::vector<double> mean(rows);
  std::vector<float> rstd(rows);
  const Coefficient<float> a = scalar ? Coefficient<float>{0.5f} : Coefficient<float>{1.0f, c.beta.data()};
  const Coefficient<float> b = scalar ? Coefficient<float>{-2.0f} : Coefficient<float>{1.0f, c.gamma.data()};
  const DropoutSpec dropout{.p = 0.25f, .key = 77, .first_row = 1000 + begin};
  c.forward({.rows = rows,
             .width = c.width,
             .x = c.x.data() + at,
             .f = c.f.data() + at,
             .gamma = c.gamma.data(),
             .beta = c.beta.data(),
             .a = a,
             .b = b,
             .dropout = dropout,
             .sum = out.sum.data(),
             .y = out.y.data(),
             .mean = c.layer ? mean.data() : nullptr,
             .rstd = rstd.data()});
  c.backward({.rows = rows,
              .width = c.width,
              .dy = c.dy.data() + at,
              .dsum = c.dsum.data() + at,
              .sum = out.sum.data(),
              .mean = c.layer ? mean.data() : nullptr,
              .rstd = rstd.data(),
              .gamma = c.gamma.data(),
              .a = a,
              .b = b,
              .dropout = dropout,
              .x = c.x.data() + at,
              .f = c.f.data() + at,
              .dx = out.dx.data(),
              .df = out.df.data(),
              .dgamma = out.dgamma.data(),
              .dbeta = out.dbeta.data(),
              .da = out.da.data(),
              .db = out.db.data()});
  return out;
}

TEST_P(AddNormInvariance, N13_TheSameBitsForEveryNumberOfThreads) {
  const int before = threads();
  for (const bool layer : {true, false})
    for (const bool scalar : {true, false}) {
      NormCase c(1000, 100, 3, 0.5);
      c.layer = layer;
      AllResults first;
      for (const int count : {1, 2, 3, 4, 7, 8, 16}) {
        set_threads(count);
        const AllResults now = run_all(c, scalar, 0, c.rows);
        if (first.y.empty()) first = now;
        SCOPED_TRACE(concat(count, " threads"));
        for (auto result : {&AllResults::sum, &AllResults::y, &AllResults::dx, &AllResults::df, &AllResults::dgamma,
                            &AllResults::dbeta, &AllResults::da, &AllResults::db})
          EXPECT_SAME_BITS(now.*result, first.*result);
      }
    }
  set_threads(before);
}

TEST_P(AddNormInvariance, N13_TheSameBitsHoweverTheRowsAreSplit) {
  for (const bool layer : {true, false}) {
    NormCase c(300, 37, 3, 0.5);
    c.layer = layer;
    const AllResults whole = run_all(c, false, 0, c.rows);
    for (const std::size_t size : {1u, 7u, 64u, 150u}) {
      AllResults joined;
      for (std::size_t begin = 0; begin < c.rows; begin += size) {
        const AllResults part = run_all(c, false, begin, std::min(c.rows, begin + size));
        for (auto result : {&AllResults::sum, &AllResults::y, &AllResults::dx, &AllResults::df})
          (joined.*result).insert((joined.*result).end(), (part.*result).begin(), (part.*result).end());
      }
      SCOPED_TRACE(concat("parts of ", size));
      for (auto result : {&AllResults::sum, &AllResults::y, &AllResults::dx, &AllResults::df})
        EXPECT_SAME_BITS(joined.*result, whole.*result);
    }
  }
}

}  // namespace
}  // namespace addnorm
