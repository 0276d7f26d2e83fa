#include "kernels/optimizer/updates.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/every_target.h"
#include "support/faults/guarded.h"
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

TEST_P(OptimizerUpdates, RectifiedAdamFollowsDoubleBeforeAndAfterItAdapts) {
  for (const double beta2 : {0.5, 0.95, 0.999}) {  // adapts never, from step 6 on, from step 6 on
    State<float> got(normal_values(100, 1));
    State<double> want(normal_values(100, 1));
    for (std::int64_t step = 1; step <= 50; ++step) {
      const auto g = normal_values(100, static_cast<std::uint64_t>(step), 0.1, 1);
      const AdamSettings settings{.beta2 = beta2, .weight_decay = 0.1, .rectified = true, .step = step, .gradient_scale = 0.25};
      got.adam(g, settings);
      want.adam(g, settings);
    }
    EXPECT_NEAR_ALL(std::span<const float>(got.p), want.p, test::steps_tolerance(50));
  }
}

TEST_P(OptimizerUpdates, PiecesFollowTheSettingsOfTheirGroupWithTheBitsOfTheWhole) {
  const auto g = normal_values(100, 1), p = normal_values(100, 2);
  const AdamSettings decayed{.weight_decay = 0.1, .gradient_scale = 0.7}, plain{.gradient_scale = 0.7};
  State<float> first(p), second(p), pieces(p);
  first.adam(g, decayed);
  second.adam(g, plain);
  const auto piece = [&](std::size_t begin, std::size_t end, std::size_t group) {
    return kernels::UpdatePiece<float>{&g[begin], &pieces.p[begin], &pieces.m[begin], &pieces.v[begin], end - begin, group};
  };
  const std::vector<kernels::UpdatePiece<float>> all{piece(0, 3, 0), piece(3, 40, 0), piece(40, 41, 1), piece(41, 99, 1)};
  const kernels::reference::AdamFactors groups[] = {kernels::reference::AdamFactors(decayed),
                                                    kernels::reference::AdamFactors(plain)};
  kernels::adam(all, groups);
  EXPECT_SAME_BITS(std::span(pieces.p).first(40), std::span(first.p).first(40));
  EXPECT_SAME_BITS(std::span(pieces.p).subspan(40, 59), std::span(second.p).subspan(40, 59));
  EXPECT_EQ(pieces.p[99], p[99]);

  State<float> whole(p), cut(p);
  const SgdSettings settings[] = {{.momentum = 0.9}, {.momentum = 0.9, .weight_decay = 0.1, .gradient_scale = 0.3}};
  whole.sgd(g, settings[1]);
  const kernels::UpdatePiece<float> halves[] = {{&g[0], &cut.p[0], &cut.m[0], nullptr, 47, 1},
                                                {&g[47], &cut.p[47], &cut.m[47], nullptr, 53, 1}};
  kernels::sgd(halves, settings);
  EXPECT_SAME_BITS(cut.p, whole.p);
}

TEST_P(OptimizerUpdates, PartsOfAdafactorFollowTheirFormulasAndStayInsideTheirBuffers) {
  for (std::size_t width = 1; width < 40; width += 1 + width / 5)
    for (const std::size_t rows : {1u, 3u, 9u}) {
      SCOPED_TRACE(concat(rows, " x ", width));
      const test::Edge edge = test::kEdges[width % 2];
      const std::size_t n = rows * width;
      const auto gradient = normal_values(n, 1), start = normal_values(n, 2);
      auto rows_of = normal_values(rows, 3), columns_of = normal_values(width, 4);
      for (auto* moments : {&rows_of, &columns_of})
        for (float& x : *moments) x = x * x;
      const Guarded<float> g(gradient, edge), row(rows_of, edge), column(columns_of, edge);
      Guarded<double> of_rows(rows, edge), of_columns(width, edge);
      kernels::square_sums(g.data(), rows, width, of_rows.data(), of_columns.data());
      std::vector<double> want_rows(rows), want_columns(width), want_p(n);
      const double least = 0.01, shrink = 0.001, step = 0.1;
      double squares = 0, update_squares = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double x = static_cast<double>(gradient[i]), p = static_cast<double>(start[i]);
        want_rows[i / width] += x * x;
        want_columns[i % width] += x * x;
        squares += x * x;
        const double v = std::max(static_cast<double>(rows_of[i / width]) * static_cast<double>(columns_of[i % width]), least);
        update_squares += x * x / v;
        want_p[i] = p - (shrink * p + step * x / std::sqrt(v));
      }
      EXPECT_NEAR_ALL(std::span<const double>(of_rows), std::span<const double>(want_rows), test::double_sum_tolerance());
      EXPECT_NEAR_ALL(std::span<const double>(of_columns), std::span<const double>(want_columns), test::double_sum_tolerance());
      EXPECT_NEAR(kernels::squares(g.data(), n), squares, test::double_sum_tolerance().rtol * squares);
      EXPECT_NEAR(kernels::update_squares(g.data(), row.data(), column.data(), least, rows, width), update_squares,
                  test::double_sum_tolerance().rtol * update_squares);
      Guarded<float> p(start, edge);
      kernels::adafactor_update(g.data(), row.data(), column.data(), least, shrink, step, rows, width, p.data());
      EXPECT_NEAR_ALL(std::span<const float>(p), want_p, test::slope_tolerance());
    }
}

TEST_P(OptimizerUpdates, AdafactorsMomentOfAVectorFollowsItsSquares) {
  for (std::size_t n = 0; n < 40; ++n) {
    const auto g = normal_values(n, 1), before = normal_values(n, 2);
    const Guarded<float> gradient(g);
    Guarded<float> v(before), fresh(n);
    std::vector<double> want(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double x = 0.5 * static_cast<double>(g[i]), old = static_cast<double>(before[i]);
      want[i] = old + 0.25 * (x * x - old);
    }
    kernels::follow_squares(gradient.data(), 0.25, 0.5, n, v.data());
    EXPECT_NEAR_ALL(std::span<const float>(v), want, test::elementwise_tolerance());
    kernels::follow_squares(gradient.data(), 1, 1, n, fresh.data());
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(fresh.data()[i], g[i] * g[i]);
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

TEST_P(OptimizerUpdates, AdamLeavesNoDenormalMoment) {
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
