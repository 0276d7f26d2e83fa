#include "support/norms/norm_case.h"

#include <algorithm>
#include <cmath>

#include "support/norms/norm_oracle.h"

namespace addnorm::test {

std::vector<float> uniform_values(std::size_t n, std::uint64_t seed, double mean, double deviation) {
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

ExactNorm exact_results(const NormCase& c) {
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

void expect_forward_exact(const NormCase& c, const ExactNorm& e) {
  double worst = 0;
  for (std::size_t i = 0; i < c.y.size(); ++i) {
    const double ulp = std::ldexp(1.0, std::ilogb(e.y_size[i]) - 23);
    const double off = std::abs(static_cast<double>(c.y[i]) - e.y[i]) / ulp;
    worst = off <= worst ? worst : off;  // a NaN stays
  }
  EXPECT_LE(worst, 4.0) << (c.layer ? "layer " : "rms ") << c.rows << " x " << c.width;
  EXPECT_SAME_BITS(c.sum, e.sum);
}

void expect_backward_exact(const NormCase& c, const ExactNorm& e) {
  SCOPED_TRACE(concat(c.layer ? "layer " : "rms ", c.rows, " x ", c.width));
  EXPECT_NEAR_ALL(c.dx, e.dx, norm_gradient_tolerance(e.largest_rstd));
  EXPECT_NEAR_ALL(c.dgamma, e.dgamma, row_sum_tolerance(c.rows));
  EXPECT_NEAR_ALL(c.dbeta, e.dbeta, row_sum_tolerance(c.rows));
}

}  // namespace addnorm::test
