// One Add & Norm problem with everything given, its results, and the bars they are held to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "addnorm/kernels/add_norm.h"
#include "support/near.h"

namespace addnorm::test {

/// n values spread evenly over mean +- sqrt(3) deviations; 50 times cheaper than normal ones, for large cases.
std::vector<float> uniform_values(std::size_t n, std::uint64_t seed, double mean = 0, double deviation = 1);

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

ExactNorm exact_results(const NormCase& c);

/// Holds y to 4 ULP of max(|y|, 1) (docs/testing.md) where gain and bias do not cancel: relative to the larger of the terms.
void expect_forward_exact(const NormCase& c, const ExactNorm& e);
inline void expect_forward_exact(const NormCase& c) { expect_forward_exact(c, exact_results(c)); }

void expect_backward_exact(const NormCase& c, const ExactNorm& e);
inline void expect_backward_exact(const NormCase& c) { expect_backward_exact(c, exact_results(c)); }

}  // namespace addnorm::test
