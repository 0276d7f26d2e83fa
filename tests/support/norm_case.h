// One Add & Norm problem with everything given, its results, and the bars they are held to.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "addnorm/kernels/add_norm.h"
#include "support/near.h"
#include "support/norm_oracle.h"

namespace addnorm::test {

/// n values spread evenly over mean +- sqrt(3) deviations; 50 times cheaper than normal ones, for large cases.
inline std::vector<float> uniform_values(std::size_t n, std::uint64_t seed, double mean = 0, double deviation = 1) {
  std::vector<float> values(n);
  const double half_range = std::sqrt(3.0) * deviation;
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  for (float& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double unit = static_cast<double>(state >> 11) * 0x1p-53;
    value = static_cast<float>(mean + half_range * (2 * unit - 1));
  }
  return values;
}

struct NormCase {
  std::size_t rows, width;
  bool layer = true;
  float eps = 1e-5f;
  std::vector<float> x, f, gamma, beta, dy, dsum;
  std::vector<float> sum, y, rstd, dx, dgamma, dbeta;
  std::vector<double> mean;

  NormCase(std::size_t r, std::size_t d, double centre = 0, double deviation = 1)
      : rows(r),
        width(d),
        x(uniform_values(r * d, 1, centre / 2, deviation)),
        f(uniform_values(r * d, 2, centre / 2, deviation)),
        gamma(uniform_values(d, 3, 1, 0.3)),
        beta(uniform_values(d, 4)),
        dy(uniform_values(r * d, 5)),
        dsum(uniform_values(r * d, 6)),
        sum(r * d),
        y(r * d),
        rstd(r),
        dx(r * d),
        dgamma(d),
        dbeta(d),
        mean(r) {}

  /// The same row everywhere in x, and f = 0: the sum is that row.
  void set_rows(const std::vector<float>& row) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = row[i % width];
    std::fill(f.begin(), f.end(), 0.0f);
  }

  AddNorm forward_args() {
    return {.rows = rows,
            .width = width,
            .x = x.data(),
            .f = f.data(),
            .gamma = gamma.data(),
            .beta = beta.data(),
            .eps = eps,
            .sum = sum.data(),
            .y = y.data(),
            .mean = layer ? mean.data() : nullptr,
            .rstd = rstd.data()};
  }
  AddNormGrad backward_args() {
    return {.rows = rows,
            .width = width,
            .dy = dy.data(),
            .dsum = dsum.data(),
            .sum = sum.data(),
            .mean = layer ? mean.data() : nullptr,
            .rstd = rstd.data(),
            .gamma = gamma.data(),
            .eps = eps,
            .dx = dx.data(),
            .df = dx.data(),
            .dgamma = dgamma.data(),
            .dbeta = dbeta.data()};
  }
  void forward(const AddNorm& args) const { layer ? add_layer_norm(args) : add_rms_norm(args); }
  void backward(const AddNormGrad& args) const { layer ? add_layer_norm_grad(args) : add_rms_norm_grad(args); }
  void run() {
    forward(forward_args());
    backward(backward_args());
  }
  std::span<const float> row_of(const std::vector<float>& matrix, std::size_t r) const {
    return std::span(matrix).subspan(r * width, width);
  }
};

/// What the oracle says about a case whose sum is x + f.
struct ExactNorm {
  std::vector<float> sum;             // rounded to float, as the statistics take it
  std::vector<double> y, y_size, dx;  // y_size: max(|y|, |xhat * gamma|, 1)
  std::vector<double> dgamma, dbeta;
  double largest_rstd = 1;
};

inline ExactNorm exact_results(const NormCase& c) {
  const std::size_t n = c.x.size();
  ExactNorm e{std::vector<float>(n),  std::vector<double>(n),       std::vector<double>(n),
              std::vector<double>(n), std::vector<double>(c.width), std::vector<double>(c.width)};
  for (std::size_t i = 0; i < n; ++i) e.sum[i] = c.x[i] + c.f[i];
  std::vector<double> g(c.width);
  for (std::size_t r = 0; r < c.rows; ++r) {
    const auto row = exact_norm(c.row_of(e.sum, r), c.layer, static_cast<long double>(c.eps));
    e.largest_rstd = std::max(e.largest_rstd, static_cast<double>(row.rstd));
    for (std::size_t i = 0, at = r * c.width; i < c.width; ++i, ++at) {
      const double scaled = row.xhat[i] * static_cast<double>(c.gamma[i]);
      e.y[at] = scaled + static_cast<double>(c.beta[i]);
      e.y_size[at] = std::max({std::abs(e.y[at]), std::abs(scaled), 1.0});
      const auto dy = static_cast<double>(c.dy[at]);
      g[i] = dy * static_cast<double>(c.gamma[i]);
      e.dgamma[i] += dy * row.xhat[i];
      e.dbeta[i] += dy;
    }
    const auto d = exact_norm_grad(row, g, c.layer);
    for (std::size_t i = 0, at = r * c.width; i < c.width; ++i, ++at) e.dx[at] = d[i] + static_cast<double>(c.dsum[at]);
  }
  return e;
}

/// Holds y to 4 ULP of max(|y|, 1) (docs/testing.md) where gain and bias do not cancel: relative to the larger of the terms.
inline void expect_forward_exact(const NormCase& c, const ExactNorm& e) {
  double worst = 0;
  for (std::size_t i = 0; i < c.y.size(); ++i) {
    const double ulp = std::ldexp(1.0, std::ilogb(e.y_size[i]) - 23);
    const double off = std::abs(static_cast<double>(c.y[i]) - e.y[i]) / ulp;
    worst = off <= worst ? worst : off;  // a NaN stays
  }
  EXPECT_LE(worst, 4.0) << (c.layer ? "layer " : "rms ") << c.rows << " x " << c.width;
  EXPECT_SAME_BITS(c.sum, e.sum);
}
inline void expect_forward_exact(const NormCase& c) { expect_forward_exact(c, exact_results(c)); }

inline void expect_backward_exact(const NormCase& c, const ExactNorm& e) {
  SCOPED_TRACE(concat(c.layer ? "layer " : "rms ", c.rows, " x ", c.width));
  EXPECT_NEAR_ALL(c.dx, e.dx, norm_gradient_tolerance(e.largest_rstd));
  EXPECT_NEAR_ALL(c.dgamma, e.dgamma, row_sum_tolerance(c.rows));
  EXPECT_NEAR_ALL(c.dbeta, e.dbeta, row_sum_tolerance(c.rows));
}
inline void expect_backward_exact(const NormCase& c) { expect_backward_exact(c, exact_results(c)); }

}  // namespace addnorm::test
