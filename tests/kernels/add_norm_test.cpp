// The fused Add & Norm against an independent long double oracle.
#include "addnorm/kernels/add_norm.h"

#include <algorithm>
#include <cmath>

#include "addnorm/core/parallel.h"
#include "support/every_target.h"
#include "support/near.h"
#include "support/norm_oracle.h"

namespace addnorm {
namespace {

using test::normal_values;

class AddNormTest : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(AddNormTest);

/// One problem with everything given, and its results.
struct Case {
  std::size_t rows, width;
  bool layer = true;
  float eps = 1e-5f;
  std::vector<float> x, f, gamma, beta, dy, dsum;
  std::vector<float> sum, y, rstd, dx, dgamma, dbeta;
  std::vector<double> mean;

  Case(std::size_t r, std::size_t d, double centre = 0, double deviation = 1)
      : rows(r), width(d), x(normal_values(r * d, 1, centre / 2, deviation)), f(normal_values(r * d, 2, centre / 2, deviation)),
        gamma(normal_values(d, 3, 1, 0.3)), beta(normal_values(d, 4)), dy(normal_values(r * d, 5)), dsum(normal_values(r * d, 6)),
        sum(r * d), y(r * d), rstd(r), dx(r * d), dgamma(d), dbeta(d), mean(r) {}

  AddNorm forward_args() {
    return {.rows = rows, .width = width, .x = x.data(), .f = f.data(), .gamma = gamma.data(), .beta = beta.data(), .eps = eps,
            .sum = sum.data(), .y = y.data(), .mean = layer ? mean.data() : nullptr, .rstd = rstd.data()};
  }
  AddNormGrad backward_args() {
    return {.rows = rows, .width = width, .dy = dy.data(), .dsum = dsum.data(), .sum = sum.data(),
            .mean = layer ? mean.data() : nullptr, .rstd = rstd.data(), .gamma = gamma.data(), .eps = eps,
            .dx = dx.data(), .df = dx.data(), .dgamma = dgamma.data(), .dbeta = dbeta.data()};
  }
  void run() {
    layer ? add_layer_norm(forward_args()) : add_rms_norm(forward_args());
    layer ? add_layer_norm_grad(backward_args()) : add_rms_norm_grad(backward_args());
  }
};

/// Holds y to 4 ULP of max(|y|, 1) (design.md) where gain and bias do not cancel: relative to the larger of the terms.
void expect_forward_exact(const Case& c) {
  double worst = 0;
  for (std::size_t r = 0; r < c.rows; ++r) {
    const auto row = test::exact_norm(std::span(c.sum).subspan(r * c.width, c.width), c.layer, static_cast<long double>(c.eps));
    for (std::size_t i = 0; i < c.width; ++i) {
      const double scaled = row.xhat[i] * static_cast<double>(c.gamma[i]);
      const double want = scaled + static_cast<double>(c.beta[i]);
      const double size = std::max({std::abs(want), std::abs(scaled), 1.0});
      const double ulp = std::ldexp(1.0, std::ilogb(size) - 23);
      worst = std::max(worst, std::abs(static_cast<double>(c.y[r * c.width + i]) - want) / ulp);
    }
  }
  EXPECT_LE(worst, 4.0) << c.rows << " x " << c.width;
}

void expect_backward_exact(const Case& c) {
  std::vector<double> dgamma(c.width), dbeta(c.width), dx(c.rows * c.width), g(c.width);
  for (std::size_t r = 0; r < c.rows; ++r) {
    const auto row = test::exact_norm(std::span(c.sum).subspan(r * c.width, c.width), c.layer, static_cast<long double>(c.eps));
    for (std::size_t i = 0; i < c.width; ++i) {
      const auto dy = static_cast<double>(c.dy[r * c.width + i]);
      g[i] = dy * static_cast<double>(c.gamma[i]);
      dgamma[i] += dy * row.xhat[i];
      dbeta[i] += dy;
    }
    const auto d = test::exact_norm_grad(row, g, c.layer);
    for (std::size_t i = 0; i < c.width; ++i) dx[r * c.width + i] = d[i] + static_cast<double>(c.dsum[r * c.width + i]);
  }
  // dx is rstd times terms of size 1: scale the absolute part with the largest rstd.
  const double scale = std::max(1.0, static_cast<double>(*std::max_element(c.rstd.begin(), c.rstd.end())));
  EXPECT_NEAR_ALL(c.dx, dx, (test::Tolerance{test::gradient_tolerance().atol * scale, test::gradient_tolerance().rtol}));
  EXPECT_NEAR_ALL(c.dgamma, dgamma, test::reduction_tolerance(c.rows));
  EXPECT_NEAR_ALL(c.dbeta, dbeta, test::reduction_tolerance(c.rows));
}

TEST_P(AddNormTest, MatchesTheOracleAtEveryTailLength) {
  for (const bool layer : {true, false})
    for (const std::size_t width : {1u, 2u, 3u, 7u, 8u, 15u, 16u, 17u, 31u, 33u, 64u, 127u, 128u, 129u, 255u, 257u, 768u}) {
      Case c(5, width);
      c.layer = layer;
      c.run();
      expect_forward_exact(c);
      expect_backward_exact(c);
    }
}

}  // namespace
}  // namespace addnorm
