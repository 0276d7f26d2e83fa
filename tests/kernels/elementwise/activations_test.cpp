#include "kernels/elementwise/activations.h"

#include <cmath>
#include <limits>

#include "support/every_target.h"
#include "support/faults/guarded.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using kernels::ActivationKind;
using test::Guarded;
using test::normal_values;

constexpr ActivationKind kAll[] = {ActivationKind::gelu, ActivationKind::gelu_tanh, ActivationKind::relu,
                                   ActivationKind::silu, ActivationKind::sigmoid,   ActivationKind::tanh};

std::vector<float> applied(ActivationKind kind, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  kernels::activate(kind, x.data(), x.size(), y.data());
  return y;
}
std::vector<float> slopes(ActivationKind kind, const std::vector<float>& x) {
  std::vector<float> dx(x.size());
  const std::vector<float> ones(x.size(), 1.0f);
  kernels::activate_grad(kind, ones.data(), x.data(), x.size(), dx.data());
  return dx;
}
std::vector<double> exactly(ActivationKind kind, const std::vector<float>& x, bool slope) {
  std::vector<double> y;
  for (const float v : x) {
    const auto at = static_cast<double>(v);
    y.push_back(slope ? kernels::reference::activation_slope(kind, at) : kernels::reference::activation(kind, at));
  }
  return y;
}

/// From -120 to 120, densely near 0, tiny numbers included.
std::vector<float> whole_range() {
  std::vector<float> x;
  for (float v = -15.0f; v < 15.0f; v += 0.00173f) x.push_back(v);
  for (float v = 1e-37f; v < 130.0f; v *= 1.01f) {
    x.push_back(v);
    x.push_back(-v);
  }
  return x;
}

class Activations : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(Activations);

TEST_P(Activations, ValuesKeepTheirDigitsOverTheWholeRange) {
  const auto x = whole_range();
  for (const ActivationKind kind : kAll) {
    SCOPED_TRACE(static_cast<int>(kind));
    const auto y = applied(kind, x);
    if (kind != ActivationKind::gelu_tanh) {
      EXPECT_NEAR_ALL(y, exactly(kind, x, false), test::function_tolerance());
      continue;
    }
    const auto want = exactly(kind, x, false);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double u = kernels::reference::gelu_tanh_twice_u(static_cast<double>(x[i]));
      ASSERT_TRUE(test::near_all(std::span(y).subspan(i, 1), std::span(want).subspan(i, 1), test::tail_tolerance(u))) << x[i];
    }
  }
}

TEST_P(Activations, SlopesAreWithinFourUlpOfOne) {
  const auto x = whole_range();
  for (const ActivationKind kind : kAll) {
    SCOPED_TRACE(static_cast<int>(kind));
    EXPECT_NEAR_ALL(slopes(kind, x), exactly(kind, x, true), test::slope_tolerance());
  }
}

TEST_P(Activations, TakeInfinitiesToTheirLimitsAndPassNaN) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x{inf, -inf, nan, 3e38f, -3e38f, 0.0f};
  const float limits[][2] = {{inf, 0}, {inf, 0}, {inf, 0}, {inf, 0}, {1, 0}, {1, -1}};
  const float slope_limits[][2] = {{1, 0}, {1, 0}, {1, 0}, {1, 0}, {0, 0}, {0, 0}};
  for (std::size_t k = 0; k < std::size(kAll); ++k) {
    SCOPED_TRACE(k);
    const auto y = applied(kAll[k], x), slope = slopes(kAll[k], x);
    EXPECT_EQ(y[0], limits[k][0]);
    EXPECT_EQ(y[1], limits[k][1]);
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_EQ(y[4], limits[k][1]);
    EXPECT_EQ(slope[0], slope_limits[k][0]);
    EXPECT_EQ(slope[1], slope_limits[k][1]);
    EXPECT_EQ(slope[3], slope_limits[k][0]);
    EXPECT_EQ(std::isnan(slope[2]), kAll[k] != ActivationKind::relu);
  }
}

TEST_P(Activations, GiveAnElementTheSameBitsWhereverItStands) {
  const auto x = normal_values(70, 3);
  const auto dy = normal_values(70, 4);
  for (const ActivationKind kind : kAll) {
    const auto whole = applied(kind, x);
    std::vector<float> whole_dx(70);
    kernels::activate_grad(kind, dy.data(), x.data(), 70, whole_dx.data());
    for (std::size_t n = 0; n < 70; ++n) {
      for (const test::Edge edge : {n % 2 == 0 ? test::Edge::start : test::Edge::end}) {
        const Guarded<float> xs(std::vector(x.begin() + 3, x.begin() + 3 + std::ptrdiff_t(std::min(n, std::size_t{67}))), edge);
        Guarded<float> y(xs.size(), edge), g(xs.size(), edge);
        std::copy_n(dy.begin() + 3, xs.size(), g.data());
        kernels::activate(kind, xs.data(), xs.size(), y.data());
        EXPECT_SAME_BITS(y, std::span(whole).subspan(3, xs.size()));
        kernels::activate_grad(kind, g.data(), xs.data(), xs.size(), g.data());
        EXPECT_SAME_BITS(g, std::span(whole_dx).subspan(3, xs.size()));
      }
    }
  }
}

TEST_P(Activations, TogetherWithTheirSlopesHaveTheSameBits) {
  const std::vector<float> x = normal_values(1003, 5);
  for (const ActivationKind kind : kAll) {
    std::vector<float> y(x.size()), slope(x.size());
    kernels::activate_with_slope(kind, x.data(), x.size(), y.data(), slope.data());
    EXPECT_SAME_BITS(y, applied(kind, x));
    EXPECT_SAME_BITS(slope, slopes(kind, x));
  }
}

TEST_P(Activations, SwigluFollowsTheReferencePackedOrNot) {
  for (std::size_t width = 0; width < 20; ++width) {
    const std::size_t rows = 3;
    const auto ab = normal_values(rows * 2 * width, 5), dy = normal_values(rows * width, 6);
    const std::vector<double> exact_ab(ab.begin(), ab.end()), exact_dy(dy.begin(), dy.end());
    std::vector<double> y(rows * width), dab(rows * 2 * width);
    const double* e = exact_ab.data();
    kernels::swiglu(e, e + width, 2 * width, rows, width, y.data());
    kernels::swiglu_grad(exact_dy.data(), e, e + width, 2 * width, rows, width, dab.data(), dab.data() + width);

    const Guarded<float> in(ab), g(dy);
    Guarded<float> got(rows * width), got_dab(rows * 2 * width);
    kernels::swiglu(in.data(), in.data() + width, 2 * width, rows, width, got.data());
    kernels::swiglu_grad(g.data(), in.data(), in.data() + width, 2 * width, rows, width, got_dab.data(), got_dab.data() + width);
    EXPECT_NEAR_ALL(std::span<const float>(got), y, test::function_tolerance());
    EXPECT_NEAR_ALL(std::span<const float>(got_dab), dab, test::slope_tolerance());
  }
}

TEST(ActivationsOfManyElements, HaveTheSameBitsForAnyThreadCount) {
  const auto x = normal_values(100003, 1), dy = normal_values(100003, 2);
  std::vector<float> first, first_dx, first_gated;
  test::with_every_thread_count([&] {
    const auto y = applied(ActivationKind::gelu, x);
    std::vector<float> dx(x.size()), gated(x.size());
    kernels::activate_grad(ActivationKind::gelu, dy.data(), x.data(), x.size(), dx.data());
    kernels::swiglu(x.data(), dy.data(), 13, x.size() / 13, 13, gated.data());
    if (first.empty()) first = y, first_dx = dx, first_gated = gated;
    EXPECT_SAME_BITS(y, first);
    EXPECT_SAME_BITS(dx, first_dx);
    EXPECT_SAME_BITS(gated, first_gated);
  });
}

}  // namespace
}  // namespace addnorm
