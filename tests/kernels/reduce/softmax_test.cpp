#include "kernels/reduce/softmax.h"

#include <cmath>
#include <limits>

#include "support/every_target.h"
#include "support/faults/guarded.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::Guarded;
using test::kInf;
using test::kNaN;
using test::normal_values;
using test::widened;

class Softmax : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(Softmax);

TEST_P(Softmax, FollowsTheReferenceInDoubleAtEveryWidth) {
  for (const std::size_t width : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 15u, 16u, 17u, 31u, 33u, 511u, 512u, 513u, 2000u}) {
    SCOPED_TRACE(width);
    const std::size_t rows = 3, n = rows * width;
    for (const test::Edge edge : test::kEdges) {
      const Guarded<float> x(normal_values(n, width, 0, 5), edge), dy(normal_values(n, width + 1), edge);
      Guarded<float> y(n, edge), dx(n, edge);
      std::vector<double> want(n), want_dx(n);
      kernels::softmax(x.data(), rows, width, y.data());
      kernels::softmax(widened(x).data(), rows, width, want.data());
      EXPECT_NEAR_ALL(std::span<const float>(y), want, test::softmax_tolerance());
      kernels::softmax_grad(dy.data(), y.data(), rows, width, dx.data());
      kernels::softmax_grad(widened(dy).data(), want.data(), rows, width, want_dx.data());
      EXPECT_NEAR_ALL(std::span<const float>(dx), want_dx, test::softmax_tolerance());

      kernels::log_softmax(x.data(), rows, width, y.data());
      kernels::log_softmax(widened(x).data(), rows, width, want.data());
      EXPECT_NEAR_ALL(std::span<const float>(y), want, test::softmax_tolerance());
      kernels::log_softmax_grad(dy.data(), y.data(), rows, width, dx.data());
      kernels::log_softmax_grad(widened(dy).data(), want.data(), rows, width, want_dx.data());
      EXPECT_NEAR_ALL(std::span<const float>(dx), want_dx, test::log_softmax_gradient_tolerance(width));
    }
  }
}

TEST_P(Softmax, IsExactAtTheEdges) {
  std::vector<float> y(3);
  const std::vector<float> one{1e4f}, huge{1e4f, -1e4f, 1e4f}, masked{-kInf, 2.0f, -kInf};
  kernels::softmax(one.data(), 1, 1, y.data());
  EXPECT_EQ(y[0], 1.0f);
  kernels::softmax(huge.data(), 1, 3, y.data());
  EXPECT_SAME_BITS(y, (std::vector<float>{0.5f, 0.0f, 0.5f}));
  kernels::softmax(masked.data(), 1, 3, y.data());
  EXPECT_SAME_BITS(y, (std::vector<float>{0, 1, 0}));
  kernels::log_softmax(masked.data(), 1, 3, y.data());
  EXPECT_SAME_BITS(y, (std::vector<float>{-kInf, 0, -kInf}));
}

struct Pair {
  const char* name;
  void (*value)(const float*, std::size_t, std::size_t, float*);
  void (*gradient)(const float*, const float*, std::size_t, std::size_t, float*);
};
const Pair kPairs[] = {{"softmax", kernels::softmax, kernels::softmax_grad},
                       {"log_softmax", kernels::log_softmax, kernels::log_softmax_grad}};

TEST_P(Softmax, TurnsARowWithoutAnAnswerIntoNaNAndLeavesTheOthersAlone) {
  const std::size_t width = 11;
  const auto dy = normal_values(3 * width, 2);
  for (const Pair& pair : kPairs)
    for (const std::vector<float>& bad :
         {std::vector<float>(width, -kInf), std::vector<float>{1, 2, kNaN, 4, 5, 6, 7, 8, 9, 10, 11},
          std::vector<float>{1, 2, 3, 4, kInf, 6, 7, 8, 9, 10, 11}}) {
      SCOPED_TRACE(pair.name);
      auto x = normal_values(3 * width, 1);
      std::vector<float> clean(3 * width), clean_dx(3 * width), y(3 * width), dx(3 * width);
      pair.value(x.data(), 3, width, clean.data());
      pair.gradient(dy.data(), clean.data(), 3, width, clean_dx.data());
      std::copy(bad.begin(), bad.end(), x.begin() + width);
      pair.value(x.data(), 3, width, y.data());
      pair.gradient(dy.data(), y.data(), 3, width, dx.data());
      for (std::size_t c = 0; c < width; ++c) EXPECT_TRUE(std::isnan(y[width + c]) && std::isnan(dx[width + c])) << c;
      for (const std::size_t row : {0u, 2u}) {
        EXPECT_SAME_BITS(std::span(y).subspan(row * width, width), std::span(clean).subspan(row * width, width));
        EXPECT_SAME_BITS(std::span(dx).subspan(row * width, width), std::span(clean_dx).subspan(row * width, width));
      }
    }
}

TEST_P(Softmax, OfOneElementHasNoGradient) {
  const std::vector<float> x{3.0f, -1e4f, 0.0f, 5e-3f}, dy = normal_values(4, 1), zeros(4);
  for (const Pair& pair : kPairs) {
    std::vector<float> y(4), dx(4);
    pair.value(x.data(), 4, 1, y.data());
    pair.gradient(dy.data(), y.data(), 4, 1, dx.data());
    EXPECT_NEAR_ALL(dx, zeros, test::exact()) << pair.name;
  }
}

TEST(SoftmaxOfManyRows, HasTheSameBitsForAnyThreadCountAndSplit) {
  const std::size_t rows = 403, width = 131;
  const auto x = normal_values(rows * width, 1), dy = normal_values(rows * width, 2);
  std::vector<float> first, first_dx;
  test::with_every_thread_count([&] {
    std::vector<float> y(x.size()), dx(x.size());
    kernels::softmax(x.data(), rows, width, y.data());
    kernels::softmax_grad(dy.data(), y.data(), rows, width, dx.data());
    if (first.empty()) first = y, first_dx = dx;
    EXPECT_SAME_BITS(y, first);
    EXPECT_SAME_BITS(dx, first_dx);
  });
  std::vector<float> part(width);
  kernels::softmax(x.data() + 17 * width, 1, width, part.data());
  EXPECT_SAME_BITS(part, std::span(first).subspan(17 * width, width));
}

}  // namespace
}  // namespace addnorm
