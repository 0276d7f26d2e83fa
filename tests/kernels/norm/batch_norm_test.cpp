#include "kernels/norm/batch_norm.h"

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

class BatchNormKernel : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(BatchNormKernel);

template <class T>
struct BatchNormResult {
  std::size_t count = 0;
  std::vector<double> mean, var, sum_dy, sum_dy_xhat;
  std::vector<T> y, dx;
};

/// Forward and backward with gain 1 as the op strings them together.
template <class T>
BatchNormResult<T> run_batch_norm(const std::vector<T>& x, const std::vector<T>& dy, const std::vector<unsigned char>& padding,
                                  std::size_t rows, std::size_t width) {
  const std::vector<double> none(width);
  BatchNormResult<T> r{0, none, none, none, none, std::vector<T>(x.size()), std::vector<T>(x.size())};
  std::vector<double> scratch(kernels::batch_norm_scratch(rows, width)), rstd(width), offset(width), slope(width);
  const unsigned char* mask = padding.empty() ? nullptr : padding.data();
  r.count = kernels::batch_statistics(x.data(), mask, rows, width, scratch.data(), r.mean.data(), r.var.data());
  for (std::size_t j = 0; j < width; ++j) rstd[j] = 1 / std::sqrt(r.var[j] + 1e-5);
  const T* no_beta = nullptr;
  kernels::batch_norm(x.data(), r.mean.data(), rstd.data(), no_beta, rows, width, r.y.data());
  kernels::batch_norm_sums(dy.data(), x.data(), r.mean.data(), rstd.data(), rows, width, scratch.data(), r.sum_dy.data(),
                           r.sum_dy_xhat.data());
  for (std::size_t j = 0; j < width; ++j) {
    offset[j] = r.sum_dy[j] / static_cast<double>(r.count);
    slope[j] = r.sum_dy_xhat[j] * rstd[j] / static_cast<double>(r.count);
  }
  kernels::batch_norm_dx(dy.data(), x.data(), mask, r.mean.data(), rstd.data(), offset.data(), slope.data(), rows, width,
                         r.dx.data());
  return r;
}

std::vector<unsigned char> every_third(std::size_t rows) {
  std::vector<unsigned char> padding(rows);
  for (std::size_t r = 0; r < rows; r += 3) padding[r] = 1;
  return padding;
}

TEST_P(BatchNormKernel, MatchesTheReferenceInDoubleOverRowsWidthsAndPadding) {
  for (const std::size_t rows : std::vector<std::size_t>{1, 2, 64, 65, 130})
    for (const std::size_t width : std::vector<std::size_t>{0, 1, 2, 3, 8, 15, 17})
      for (const bool padded : {false, true}) {
        if (padded && rows == 1) continue;
        SCOPED_TRACE(concat("rows ", rows, " width ", width, " padded ", padded));
        const auto x = normal_values(rows * width, 1, 3), dy = normal_values(rows * width, 2);
        const auto padding = padded ? every_third(rows) : std::vector<unsigned char>();
        const auto got = run_batch_norm(x, dy, padding, rows, width);
        const auto want = run_batch_norm(std::vector<double>(x.begin(), x.end()), std::vector<double>(dy.begin(), dy.end()),
                                         padding, rows, width);
        EXPECT_EQ(got.count, want.count);
        EXPECT_NEAR_ALL(got.mean, want.mean, test::signed_double_sum_tolerance());
        EXPECT_NEAR_ALL(got.var, want.var, test::signed_double_sum_tolerance());
        EXPECT_NEAR_ALL(got.y, want.y, test::elementwise_tolerance());
        // With two rows of almost equal values rstd is large, and dx the small difference of large terms.
        EXPECT_NEAR_ALL(got.dx, want.dx, test::gradient_tolerance());
      }
}

TEST_P(BatchNormKernel, ReadsAndWritesNothingOutsideItsArrays) {
  const std::size_t rows = 66, width = 5;
  const Guarded<float> x(normal_values(rows * width, 1)), dy(normal_values(rows * width, 2));
  const Guarded<unsigned char> padding(every_third(rows));
  Guarded<double> scratch(kernels::batch_norm_scratch(rows, width)), mean(width), var(width), sum(width), sum_xhat(width);
  Guarded<float> y(rows * width);
  kernels::batch_statistics(x.data(), padding.data(), rows, width, scratch.data(), mean.data(), var.data());
  kernels::batch_norm(x.data(), mean.data(), var.data(), x.data(), rows, width, y.data());
  kernels::batch_norm_sums(dy.data(), x.data(), mean.data(), var.data(), rows, width, scratch.data(), sum.data(),
                           sum_xhat.data());
  kernels::batch_norm_dx(dy.data(), x.data(), padding.data(), mean.data(), var.data(), sum.data(), sum_xhat.data(), rows, width,
                         y.data());
}

TEST_P(BatchNormKernel, KeepsTheVarianceOfColumnsWithALargeMean) {
  const std::size_t rows = 3000;
  for (const double mean : {1e4, 1e6, -1e6}) {
    SCOPED_TRACE(mean);
    const auto x = normal_values(rows, 1, mean);
    std::vector<double> scratch(kernels::batch_norm_scratch(rows, 1)), got_mean(1), got_var(1), want_mean(1), want_var(1);
    kernels::batch_statistics(x.data(), nullptr, rows, 1, scratch.data(), got_mean.data(), got_var.data());
    kernels::reference::batch_statistics(x.data(), nullptr, rows, 1, want_mean.data(), want_var.data());
    EXPECT_NEAR_ALL(got_mean, want_mean, test::signed_double_sum_tolerance());
    EXPECT_NEAR_ALL(got_var, want_var, test::signed_double_sum_tolerance());
  }
}

TEST_P(BatchNormKernel, GivesExactlyZeroForAColumnOfEqualValues) {
  for (const float value : {0.1f, 14.0f, 3.3e7f, 1e20f, std::numeric_limits<float>::max()}) {
    const std::vector<float> x(100, value);
    const auto r = run_batch_norm(x, normal_values(100, 2), {}, 100, 1);
    EXPECT_EQ(r.var[0], 0);
    EXPECT_SAME_BITS(r.y, std::vector<float>(100, 0.0f));
    EXPECT_EQ(r.sum_dy_xhat[0], 0);
  }
}

TEST_P(BatchNormKernel, IgnoresWhatStandsInPaddingRows) {
  const std::size_t rows = 10, width = 3;
  const auto padding = every_third(rows);
  auto x = normal_values(rows * width, 1);
  std::vector<double> scratch(kernels::batch_norm_scratch(rows, width)), mean(width), var(width), mean2(width), var2(width);
  kernels::batch_statistics(x.data(), padding.data(), rows, width, scratch.data(), mean.data(), var.data());
  for (std::size_t r = 0; r < rows; r += 3) x[r * width + 1] = std::numeric_limits<float>::quiet_NaN();
  kernels::batch_statistics(x.data(), padding.data(), rows, width, scratch.data(), mean2.data(), var2.data());
  EXPECT_EQ(mean, mean2);
  EXPECT_EQ(var, var2);
}

TEST_P(BatchNormKernel, LetsANaNSpoilItsColumnOnly) {
  const std::size_t rows = 70, width = 9;
  auto x = normal_values(rows * width, 1);
  const auto dy = normal_values(rows * width, 2);
  const auto clean = run_batch_norm(x, dy, {}, rows, width);
  x[5 * width + 4] = std::numeric_limits<float>::quiet_NaN();
  const auto spoilt = run_batch_norm(x, dy, {}, rows, width);
  for (std::size_t i = 0; i < rows * width; ++i)
    if (i % width == 4) {
      EXPECT_TRUE(std::isnan(spoilt.y[i]));
    } else {
      EXPECT_EQ(spoilt.y[i], clean.y[i]);
      EXPECT_EQ(spoilt.dx[i], clean.dx[i]);
    }
}

TEST_P(BatchNormKernel, HasTheSameBitsForAnyNumberOfThreads) {
  const std::size_t rows = 500, width = 37;
  const auto x = normal_values(rows * width, 1), dy = normal_values(rows * width, 2);
  const auto want = run_batch_norm(x, dy, every_third(rows), rows, width);
  test::with_every_thread_count([&] {
    const auto got = run_batch_norm(x, dy, every_third(rows), rows, width);
    EXPECT_EQ(got.mean, want.mean);
    EXPECT_EQ(got.var, want.var);
    EXPECT_SAME_BITS(got.y, want.y);
    EXPECT_SAME_BITS(got.dx, want.dx);
    EXPECT_EQ(got.sum_dy, want.sum_dy);
    EXPECT_EQ(got.sum_dy_xhat, want.sum_dy_xhat);
  });
}

}  // namespace
}  // namespace addnorm
