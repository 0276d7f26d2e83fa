// Sums over arrays, products with a row, weighted sums.
#include "kernels/reduce/reduce.h"

#include <cmath>

#include "kernels/elementwise/elementwise.h"
#include "kernels/norm/l2_norm.h"
#include "support/every_target.h"
#include "support/faults/guarded.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::Guarded;
using test::normal_values;

class Reduce : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(Reduce);

TEST_P(Reduce, SumAndDotMatchTheReferenceAtEveryTailLength) {
  for (std::size_t n : std::vector<std::size_t>{0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 32768, 32769}) {
    const Guarded<float> a(normal_values(n, 1)), b(normal_values(n, 2));
    std::vector<double> scratch(kernels::reduce_scratch(n));
    const std::vector<double> got{kernels::sum(a.data(), n, scratch.data()), kernels::dot(a.data(), b.data(), n, scratch.data())};
    const std::vector<double> want{kernels::reference::sum(a.data(), n), kernels::reference::dot(a.data(), b.data(), n)};
    EXPECT_NEAR_ALL(got, want, test::signed_double_sum_tolerance());
  }
}

TEST_P(Reduce, SumOfSquaresIsThatOfDoubleAndNeverOverflows) {
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 3, 17, 1000, 50001}) {
    const Guarded<float> x(normal_values(n, 3));
    std::vector<double> scratch(kernels::reduce_scratch(n));
    const std::vector<double> got{kernels::sum_of_squares(x.data(), n, scratch.data())};
    EXPECT_NEAR_ALL(got, (std::vector{kernels::reference::dot(x.data(), x.data(), n)}), test::double_sum_tolerance());
  }
  const std::vector<float> huge(100, 3e38f);
  double scratch = 0;
  EXPECT_TRUE(std::isfinite(kernels::sum_of_squares(huge.data(), huge.size(), &scratch)));
}

TEST_P(Reduce, ALengthIsTheSameWhoeverMeasuresIt) {
  for (const std::size_t n : std::vector<std::size_t>{1, 3, 17, 768, 50001}) {
    for (const double size : {1e-20, 1.0, 1e20}) {
      const auto x = normal_values(n, 3, 0, size);
      std::vector<double> scratch(kernels::reduce_scratch(n)), norm(1);
      std::vector<float> unit(n);
      kernels::l2_norm(x.data(), 1, n, 1, 0, unit.data(), norm.data());
      const std::vector<double> lengths{std::sqrt(kernels::sum_of_squares(x.data(), n, scratch.data())),
                                        std::sqrt(kernels::dot(x.data(), x.data(), n, scratch.data()))};
      EXPECT_NEAR_ALL(lengths, (std::vector<double>{norm[0], norm[0]}), test::diagnostics_tolerance());
      const std::vector<double> one{std::sqrt(kernels::dot(unit.data(), unit.data(), n, scratch.data()))};
      EXPECT_NEAR_ALL(one, std::vector<double>{1}, test::diagnostics_tolerance());
    }
  }
}

TEST_P(Reduce, RowProductsAndTheirGradientMatchTheReference) {
  for (const std::size_t rows : std::vector<std::size_t>{0, 1, 5, 64, 65, 129})
    for (const std::size_t width : std::vector<std::size_t>{0, 1, 3, 8, 17, 33}) {
      const Guarded<float> a(normal_values(rows * width, 1)), b(normal_values(rows * width, 2)), v(normal_values(width, 3));
      Guarded<float> y(rows * width);
      std::vector<float> want_y(rows * width);
      kernels::multiply_rows(a.data(), v.data(), rows, width, y.data());
      kernels::reference::multiply_rows(a.data(), v.data(), rows, width, want_y.data());
      EXPECT_SAME_BITS(y, want_y);

      std::vector<double> scratch(kernels::column_dots_scratch(rows, width)), got(width), want(width);
      kernels::column_dots(a.data(), b.data(), rows, width, scratch.data(), got.data());
      kernels::reference::column_dots(a.data(), b.data(), rows, width, want.data());
      EXPECT_NEAR_ALL(got, want, test::signed_double_sum_tolerance());
    }
}

struct Mixed {
  std::vector<float> y;
  std::vector<std::vector<float>> dxs;
  std::vector<double> dw;
};

template <class Kernel, class GradKernel>
Mixed mix(std::size_t count, std::size_t n, Kernel kernel, GradKernel grad) {
  std::vector<std::vector<float>> xs;
  Mixed out{std::vector<float>(n), std::vector<std::vector<float>>(count, std::vector<float>(n)), std::vector<double>(count)};
  std::vector<const float*> in;
  std::vector<float*> dxs;
  for (std::size_t k = 0; k < count; ++k) xs.push_back(normal_values(n, 10 + k));
  for (std::size_t k = 0; k < count; ++k) {
    in.push_back(xs[k].data());
    dxs.push_back(k == 1 ? nullptr : out.dxs[k].data());  // one whose gradient nobody wants
  }
  const auto w = normal_values(count, 2), dy = normal_values(n, 3);
  kernel(in.data(), w.data(), count, n, out.y.data());
  grad(dy.data(), in.data(), w.data(), count, n, dxs.data(), out.dw.data());
  return out;
}

Mixed mix(std::size_t count, std::size_t n) {
  return mix(
      count, n, [](auto... args) { kernels::weighted_sum(args...); },
      [](const float* dy, const float* const* xs, const float* w, std::size_t c, std::size_t m, float* const* dxs, double* dw) {
        std::vector<double> scratch(kernels::weighted_sum_grad_scratch(c, m));
        kernels::weighted_sum_grad(dy, xs, w, c, m, scratch.data(), dxs, dw);
      });
}

TEST_P(Reduce, WeightedSumEqualsTheReferenceBitForBitAndItsWeightGradientToDouble) {
  for (const std::size_t count : std::vector<std::size_t>{1, 2, 3, 7})
    for (const std::size_t n : std::vector<std::size_t>{0, 1, 7, 8, 9, 31, 4095, 4096, 4097, 10001}) {
      SCOPED_TRACE(concat("count ", count, " n ", n));
      const Mixed got = mix(count, n);
      const Mixed want = mix(
          count, n, [](auto... args) { kernels::reference::weighted_sum(args...); },
          [](auto... args) { kernels::reference::weighted_sum_grad(args...); });
      EXPECT_SAME_BITS(got.y, want.y);
      for (std::size_t k = 0; k < count; ++k) EXPECT_SAME_BITS(got.dxs[k], want.dxs[k]);
      EXPECT_NEAR_ALL(got.dw, want.dw, test::signed_double_sum_tolerance());
    }
}

TEST_P(Reduce, WeightedSumOfOneArrayWorksInPlaceAndOfNoneIsZero) {
  const float w = -1.5f;
  for (const std::size_t n : std::vector<std::size_t>{1, 7, 8, 31, 4096, 10001}) {
    auto x = normal_values(n, 1);
    x[0] = 0;  // 0 + -1.5 * 0 is +0, as in the reference
    std::vector<float> want(n);
    const float* original = x.data();
    kernels::reference::weighted_sum(&original, &w, 1, n, want.data());
    kernels::weighted_sum(&original, &w, 1, n, x.data());
    EXPECT_SAME_BITS(x, want);
    kernels::weighted_sum(static_cast<const float* const*>(nullptr), nullptr, 0, n, x.data());
    EXPECT_SAME_BITS(x, std::vector<float>(n, 0.0f));
  }
}

TEST_P(Reduce, HasTheSameBitsForAnyNumberOfThreads) {
  const std::size_t n = 40003, width = 29, rows = n / width;
  const auto a = normal_values(n, 1), b = normal_values(n, 2);
  std::vector<double> scratch(kernels::column_dots_scratch(rows, width)), want(width), got(width);
  const double sum = kernels::sum(a.data(), n, scratch.data()), dot = kernels::dot(a.data(), b.data(), n, scratch.data());
  const double squares = kernels::sum_of_squares(a.data(), n, scratch.data());
  kernels::column_dots(a.data(), b.data(), rows, width, scratch.data(), want.data());
  const Mixed mixed = mix(3, n);
  test::with_every_thread_count([&] {
    EXPECT_EQ(kernels::sum(a.data(), n, scratch.data()), sum);
    EXPECT_EQ(kernels::dot(a.data(), b.data(), n, scratch.data()), dot);
    EXPECT_EQ(kernels::sum_of_squares(a.data(), n, scratch.data()), squares);
    kernels::column_dots(a.data(), b.data(), rows, width, scratch.data(), got.data());
    EXPECT_EQ(got, want);
    const Mixed again = mix(3, n);
    EXPECT_SAME_BITS(again.y, mixed.y);
    EXPECT_EQ(again.dw, mixed.dw);
  });
}

}  // namespace
}  // namespace addnorm
