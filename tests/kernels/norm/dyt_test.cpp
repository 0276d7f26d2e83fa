#include "kernels/norm/dyt.h"

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

class Dyt : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(Dyt);

struct DytResult {
  std::vector<float> y, dx, sums;
};

DytResult run_dyt(const std::vector<float>& x, const std::vector<float>& dy, std::size_t rows, std::size_t width) {
  const Guarded<float> gx(x), gdy(dy), gain(normal_values(width, 3)), beta(normal_values(width, 4));
  Guarded<float> y(x.size()), dx(x.size()), sums(3 * width), scratch(kernels::dyt_grad_scratch(rows, width));
  kernels::dyt(gx.data(), gain.data(), beta.data(), 0.75f, rows, width, y.data());
  kernels::dyt_grad(gdy.data(), gx.data(), gain.data(), 0.75f, rows, width, scratch.data(), dx.data(), sums.data());
  return {y.values(), dx.values(), sums.values()};
}

TEST_P(Dyt, MatchesTheReferenceInDoubleAtEveryTailLength) {
  for (const std::size_t rows : std::vector<std::size_t>{1, 65})
    for (std::size_t width = 0; width < 35; ++width) {
      SCOPED_TRACE(concat("rows ", rows, " width ", width));
      const auto x = normal_values(rows * width, 1, 0, 3), dy = normal_values(rows * width, 2);
      const DytResult got = run_dyt(x, dy, rows, width);
      const auto x64 = widened(x), dy64 = widened(dy), gain = widened(normal_values(width, 3)),
                 beta = widened(normal_values(width, 4));
      std::vector<double> y(x.size()), dx(x.size()), sums(3 * width);
      kernels::reference::dyt(x64.data(), gain.data(), beta.data(), 0.75, rows, width, y.data());
      kernels::reference::dyt_grad(dy64.data(), x64.data(), gain.data(), 0.75, rows, width, dx.data(), sums.data());
      EXPECT_NEAR_ALL(got.y, y, test::slope_tolerance());
      EXPECT_NEAR_ALL(got.dx, dx, test::gradient_tolerance());
      EXPECT_NEAR_ALL(got.sums, sums, test::reduction_tolerance(rows * 9));  // terms of size up to 3
    }
}

TEST_P(Dyt, DxOrTheSumsAloneHaveTheBitsTheyHaveTogether) {
  for (const std::size_t width : {1u, 16u, 37u}) {
    const std::size_t rows = 70;
    const Guarded<float> x(normal_values(rows * width, 1)), dy(normal_values(rows * width, 2)), gain(normal_values(width, 3));
    Guarded<float> dx(rows * width), sums(3 * width), dx_alone(rows * width), sums_alone(3 * width);
    Guarded<float> scratch(kernels::dyt_grad_scratch(rows, width));
    const auto run_into = [&](float* to_dx, float* to_sums, float* room) {
      kernels::dyt_grad(dy.data(), x.data(), gain.data(), 0.75f, rows, width, room, to_dx, to_sums);
    };
    run_into(dx.data(), sums.data(), scratch.data());
    run_into(dx_alone.data(), nullptr, nullptr);
    run_into(nullptr, sums_alone.data(), scratch.data());
    EXPECT_SAME_BITS(dx_alone.values(), dx.values());
    EXPECT_SAME_BITS(sums_alone.values(), sums.values());
  }
}

TEST_P(Dyt, SaturatesAndKeepsNaN) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x{-inf, -3e38f, 0, 3e38f, inf, std::numeric_limits<float>::quiet_NaN()};
  const std::vector<float> gain(6, 2.0f), beta(6, 1.0f);
  std::vector<float> y(6);
  kernels::dyt(x.data(), gain.data(), beta.data(), 0.5f, 1, 6, y.data());
  EXPECT_TRUE(std::isnan(y[5]));
  y.pop_back();
  EXPECT_SAME_BITS(y, (std::vector<float>{-1, -1, 1, 3, 3}));
}

TEST_P(Dyt, HasTheSameBitsForAnyNumberOfThreads) {
  const std::size_t rows = 300, width = 37;
  const auto x = normal_values(rows * width, 1), dy = normal_values(rows * width, 2);
  const DytResult want = run_dyt(x, dy, rows, width);
  test::with_every_thread_count([&] {
    const DytResult got = run_dyt(x, dy, rows, width);
    EXPECT_SAME_BITS(got.y, want.y);
    EXPECT_SAME_BITS(got.dx, want.dx);
    EXPECT_SAME_BITS(got.sums, want.sums);
  });
}

TEST_P(Dyt, OfOneRowAloneIsThatRowOfTheBatch) {
  const std::size_t rows = 130, width = 37, alone = 101;
  const auto x = normal_values(rows * width, 1), dy = normal_values(rows * width, 2);
  const DytResult all = run_dyt(x, dy, rows, width);
  const DytResult one = run_dyt({x.begin() + alone * width, x.begin() + (alone + 1) * width},
                                {dy.begin() + alone * width, dy.begin() + (alone + 1) * width}, 1, width);
  EXPECT_SAME_BITS(one.y, std::span(all.y).subspan(alone * width, width));
  EXPECT_SAME_BITS(one.dx, std::span(all.dx).subspan(alone * width, width));
}

}  // namespace
}  // namespace addnorm
