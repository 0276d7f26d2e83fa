#include "kernels/norm/l2_norm.h"

#include <cmath>
#include <limits>

#include "support/every_target.h"
#include "support/faults/guarded.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::Guarded;
using test::normal_values;
using test::widened;

class L2Norm : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(L2Norm);

struct L2NormResult {
  std::vector<float> y, dx;
  std::vector<double> norm, row_dg;
};

L2NormResult run_l2_norm(const std::vector<float>& x, const std::vector<float>& dy, std::size_t rows, std::size_t width, double g,
                         double eps) {
  L2NormResult out{std::vector<float>(x.size()), std::vector<float>(x.size()), std::vector<double>(rows),
                   std::vector<double>(rows)};
  kernels::l2_norm(x.data(), rows, width, g, eps, out.y.data(), out.norm.data());
  kernels::l2_norm_grad(dy.data(), x.data(), out.norm.data(), rows, width, g, eps, out.dx.data(), out.row_dg.data());
  return out;
}

TEST_P(L2Norm, MatchesTheReferenceInDoubleAtEveryTailLength) {
  for (std::size_t width = 0; width < 70; ++width) {
    SCOPED_TRACE(width);
    const std::size_t rows = 3;
    const auto x = normal_values(rows * width, 1), dy = normal_values(rows * width, 2);
    const Guarded<float> gx(x), gdy(dy);
    Guarded<float> y(x.size()), dx(x.size());
    std::vector<double> norm(rows), row_dg(rows);
    kernels::l2_norm(gx.data(), rows, width, 1.5, 1e-5, y.data(), norm.data());
    kernels::l2_norm_grad(gdy.data(), gx.data(), norm.data(), rows, width, 1.5, 1e-5, dx.data(), row_dg.data());

    std::vector<double> want_y(x.size()), want_dx(x.size()), want_norm(rows), want_dg(rows);
    const auto x64 = widened(x), dy64 = widened(dy);
    kernels::reference::l2_norm(x64.data(), rows, width, 1.5, 1e-5, want_y.data(), want_norm.data());
    kernels::reference::l2_norm_grad(dy64.data(), x64.data(), want_norm.data(), rows, width, 1.5, 1e-5, want_dx.data(),
                                     want_dg.data());
    EXPECT_NEAR_ALL(y, want_y, test::elementwise_tolerance());
    EXPECT_NEAR_ALL(dx, want_dx, test::elementwise_tolerance());
    EXPECT_NEAR_ALL(row_dg, want_dg, test::signed_double_sum_tolerance());
  }
}

TEST_P(L2Norm, GivesLengthOneForDenormalAndForHugeRows) {
  for (const float size : {1e-40f, 3e-39f, 1e-20f, 1e19f, 3e38f}) {
    SCOPED_TRACE(size);
    const std::vector<float> x(512, size), dy = normal_values(512, 3);
    const auto [y, dx, norm, row_dg] = run_l2_norm(x, dy, 1, 512, 1, 0);
    EXPECT_NEAR_ALL(y, std::vector<double>(512, 1 / std::sqrt(512.0)), test::elementwise_tolerance());
  }
}

TEST_P(L2Norm, KeepsARowOfZerosAlsoWithoutEps) {
  const std::vector<float> x(7, 0.0f), dy = normal_values(7, 3);
  const auto [y, dx, norm, row_dg] = run_l2_norm(x, dy, 1, 7, 2, 0);
  EXPECT_SAME_BITS(y, x);
  EXPECT_NEAR_ALL(dx, x, test::exact());
}

TEST_P(L2Norm, IsLinearBelowEps) {
  const auto x = normal_values(9, 1, 0, 1e-4), dy = normal_values(9, 2);
  const auto [y, dx, norm, row_dg] = run_l2_norm(x, dy, 1, 9, 3, 0.5);
  std::vector<double> want_y, want_dx;
  for (std::size_t i = 0; i < 9; ++i) {
    want_y.push_back(6.0 * static_cast<double>(x[i]));
    want_dx.push_back(6.0 * static_cast<double>(dy[i]));
  }
  EXPECT_NEAR_ALL(y, want_y, test::elementwise_tolerance());
  EXPECT_NEAR_ALL(dx, want_dx, test::elementwise_tolerance());
}

TEST_P(L2Norm, LetsANaNOrAnInfinitySpoilItsRowOnly) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::size_t rows = 4, width = 21;
  const auto x = normal_values(rows * width, 1), dy = normal_values(rows * width, 2);
  const L2NormResult clean = run_l2_norm(x, dy, rows, width, 1, 1e-5);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInf, -kInf})
    for (const std::size_t column : {0u, 7u, 20u}) {
      SCOPED_TRACE(concat(bad, " in column ", column));
      auto spoilt_x = x;
      spoilt_x[2 * width + column] = bad;
      const L2NormResult spoilt = run_l2_norm(spoilt_x, dy, rows, width, 1, 1e-5);
      for (std::size_t r = 0; r < rows; ++r) {
        const auto y = std::span(spoilt.y).subspan(r * width, width), dx = std::span(spoilt.dx).subspan(r * width, width);
        if (r == 2) {
          for (std::size_t i = 0; i < width; ++i) EXPECT_TRUE(std::isnan(y[i]) && std::isnan(dx[i])) << "column " << i;
          EXPECT_TRUE(std::isnan(spoilt.row_dg[r]));
          continue;
        }
        EXPECT_SAME_BITS(y, std::span(clean.y).subspan(r * width, width));
        EXPECT_SAME_BITS(dx, std::span(clean.dx).subspan(r * width, width));
        EXPECT_EQ(spoilt.row_dg[r], clean.row_dg[r]);
      }
    }
}

TEST(L2NormReference, MakesARowWithAnInfinityNaN) {
  const std::vector<double> x{1, std::numeric_limits<double>::infinity(), 3, 4}, dy{1, 2, 3, 4};
  std::vector<double> y(4), dx(4), norm(2), row_dg(2);
  kernels::l2_norm(x.data(), 2, 2, 1, 1e-5, y.data(), norm.data());
  kernels::l2_norm_grad(dy.data(), x.data(), norm.data(), 2, 2, 1, 1e-5, dx.data(), row_dg.data());
  for (const auto* values : {&y, &dx})
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(std::isnan((*values)[i]), i < 2) << i;
}

TEST_P(L2Norm, HasTheSameBitsForAnyNumberOfThreads) {
  const std::size_t rows = 1000, width = 129;
  const auto x = normal_values(rows * width, 1), dy = normal_values(rows * width, 2);
  const L2NormResult want = run_l2_norm(x, dy, rows, width, 1.25, 1e-5);
  test::with_every_thread_count([&] {
    const L2NormResult got = run_l2_norm(x, dy, rows, width, 1.25, 1e-5);
    EXPECT_SAME_BITS(got.y, want.y);
    EXPECT_SAME_BITS(got.dx, want.dx);
    EXPECT_EQ(got.row_dg, want.row_dg);
  });
}

TEST_P(L2Norm, OfOneRowAloneIsThatRowOfTheBatch) {
  const std::size_t rows = 300, width = 129, alone = 257;
  const auto x = normal_values(rows * width, 1), dy = normal_values(rows * width, 2);
  for (const double g : {1.0, 1.25}) {  // the L2 norm, and ScaleNorm
    const L2NormResult all = run_l2_norm(x, dy, rows, width, g, 1e-5);
    const std::vector<float> row(x.begin() + alone * width, x.begin() + (alone + 1) * width);
    const std::vector<float> up(dy.begin() + alone * width, dy.begin() + (alone + 1) * width);
    const L2NormResult one = run_l2_norm(row, up, 1, width, g, 1e-5);
    EXPECT_SAME_BITS(one.y, std::span(all.y).subspan(alone * width, width));
    EXPECT_SAME_BITS(one.dx, std::span(all.dx).subspan(alone * width, width));
    EXPECT_EQ(one.norm[0], all.norm[alone]);
    EXPECT_EQ(one.row_dg[0], all.row_dg[alone]);
  }
}

}  // namespace
}  // namespace addnorm
