#include "kernels/optimizer_updates.h"

#include <cmath>
#include <limits>

#include "support/every_target.h"
#include "support/guarded.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using kernels::AdamSettings;
using kernels::SgdSettings;
using test::Guarded;
using test::normal_values;

/// Parameters with their moments, in T.
template <class T>
struct State {
  std::vector<T> p, m, v;

  explicit State(std::span<const float> start) : p(start.begin(), start.end()), m(start.size()), v(start.size()) {}
  void adam(const std::vector<float>& g, const AdamSettings& settings) {
    const std::vector<T> gradient(g.begin(), g.end());
    kernels::adam(gradient.data(), settings, p.size(), p.data(), m.data(), v.data());
  }
  void sgd(const std::vector<float>& g, const SgdSettings& settings) {
    const std::vector<T> gradient(g.begin(), g.end());
    kernels::sgd(gradient.data(), settings, p.size(), p.data(), m.data());
  }
};

class OptimizerUpdates : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(OptimizerUpdates);

TEST_P(OptimizerUpdates, AdamFollowsDoubleForAThousandSteps) {
  const std::size_t n = 200;
  for (const bool decoupled : {true, false}) {
    State<float> got(normal_values(n, 1));
    State<double> want(normal_values(n, 1));
    for (std::int64_t step = 1; step <= 1000; ++step) {
      const auto g = normal_values(n, static_cast<std::uint64_t>(step) + 10, 0.1, 1);
      const AdamSettings settings{.weight_decay = 0.01, .decoupled = decoupled, .step = step};
      got.adam(g, settings);
      want.adam(g, settings);
      if (step == 1) {
        EXPECT_NEAR_ALL(std::span<const float>(got.p), want.p, test::elementwise_tolerance());
      }
    }
    EXPECT_NEAR_ALL(std::span<const float>(got.p), want.p, test::steps_tolerance(1000));
    EXPECT_NEAR_ALL(std::span<const float>(got.m), want.m, test::elementwise_tolerance());
    EXPECT_NEAR_ALL(std::span<const float>(got.v), want.v, test::steps_tolerance(1000));
  }
}

TEST_P(OptimizerUpdates, AdamHandlesLateStepsZeroAndTinyGradients) {
  const auto start = normal_values(50, 1);
  State<float> got(start);
  State<double> want(start);
  const AdamSettings late{.weight_decay = 0, .step = 1000000};
  got.adam(normal_values(50, 2), late);
  want.adam(normal_values(50, 2), late);
  EXPECT_NEAR_ALL(std::span<const float>(got.p), want.p, test::elementwise_tolerance());

  State<float> still(start);
  still.adam(std::vector<float>(50, 0.0f), {});
  EXPECT_SAME_BITS(still.p, start);
  still.adam(std::vector<float>(50, 0.0f), {.weight_decay = 0.1});
  for (std::size_t i = 0; i < 50; ++i) EXPECT_FLOAT_EQ(still.p[i], start[i] * (1 - 1e-4f));

  State<float> tiny(std::vector<float>(50, 0.0f));
  State<double> exact(std::vector<float>(50, 0.0f));
  tiny.adam(std::vector<float>(50, 1e-20f), {});
  exact.adam(std::vector<float>(50, 1e-20f), {});
  EXPECT_NEAR_ALL(std::span<const float>(tiny.p), exact.p, test::function_tolerance());
  EXPECT_NE(tiny.p[0], 0.0f);
}

TEST_P(OptimizerUpdates, AdamLeavesNoDenormalMomentBehind) {
  State<float> state(std::vector<float>(20, 1.0f));
  state.adam(normal_values(20, 1), {});
  for (std::int64_t step = 2; step < 1200; ++step) state.adam(std::vector<float>(20, 0.0f), {.step = step});
  EXPECT_SAME_BITS(state.m, std::vector<float>(20, 0.0f));
}

TEST_P(OptimizerUpdates, SgdFollowsDoubleInEveryForm) {
  for (const SgdSettings& settings :
       {SgdSettings{}, SgdSettings{.weight_decay = 0.1}, SgdSettings{.momentum = 0.9},
        SgdSettings{.momentum = 0.9, .weight_decay = 0.1}, SgdSettings{.momentum = 0.9, .weight_decay = 0.1, .nesterov = true}}) {
    State<float> got(normal_values(100, 1));
    State<double> want(normal_values(100, 1));
    for (std::uint64_t step = 1; step <= 100; ++step) {
      got.sgd(normal_values(100, step), settings);
      want.sgd(normal_values(100, step), settings);
    }
    EXPECT_NEAR_ALL(std::span<const float>(got.p), want.p, test::steps_tolerance(100));
  }
}

TEST_P(OptimizerUpdates, StayInsideTheirBuffersAndGiveAnElementTheSameBitsWhereverItStands) {
  const auto g = normal_values(70, 1), p = normal_values(70, 2);
  State<float> whole(p), whole_sgd(p);
  whole.adam(g, {.weight_decay = 0.1});
  whole_sgd.sgd(g, {.momentum = 0.5, .nesterov = true});
  for (std::size_t n = 0; n < 70; ++n) {
    const test::Edge edge = test::kEdges[n % 2];
    const Guarded<float> gs(std::vector(g.end() - std::ptrdiff_t(n), g.end()), edge);
    Guarded<float> ps(std::vector(p.end() - std::ptrdiff_t(n), p.end()), edge), m(n, edge), v(n, edge);
    kernels::adam(gs.data(), {.weight_decay = 0.1}, n, ps.data(), m.data(), v.data());
    EXPECT_SAME_BITS(ps, std::span(whole.p).last(n));
    Guarded<float> qs(std::vector(p.end() - std::ptrdiff_t(n), p.end()), edge), velocity(n, edge);
    kernels::sgd(gs.data(), {.momentum = 0.5, .nesterov = true}, n, qs.data(), velocity.data());
    EXPECT_SAME_BITS(qs, std::span(whole_sgd.p).last(n));
  }
}

TEST(OptimizerUpdatesOfManyElements, HaveTheSameBitsForAnyThreadCount) {
  const std::size_t n = 100001;
  const auto g = normal_values(n, 1), p = normal_values(n, 2);
  std::vector<float> first;
  test::with_every_thread_count([&] {
    State<float> state(p);
    state.adam(g, {});
    state.sgd(g, {.momentum = 0.9});
    if (first.empty()) first = state.p;
    EXPECT_SAME_BITS(state.p, first);
  });
}

TEST(OptimizerUpdatesOfManyElements, PassNaNToItsParameterOnly) {
  State<float> state(std::vector<float>(20, 1.0f));
  std::vector<float> g(20, 0.5f);
  g[7] = std::numeric_limits<float>::quiet_NaN();
  state.adam(g, {});
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(std::isnan(state.p[i]), i == 7);
}

}  // namespace
}  // namespace addnorm
