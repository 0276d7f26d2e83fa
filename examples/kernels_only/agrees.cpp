// The fused kernels against the formula in plain double loops: how far apart they are on this machine, at many widths.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "addnorm/kernels/add_norm.h"

namespace {

constexpr std::size_t kRows = 67;

std::vector<float> values(std::size_t n, unsigned seed) {
  std::vector<float> out(n);
  for (float& v : out) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<float>(seed >> 8) * 0x1p-23f - 1.0f;
  }
  return out;
}

/// The largest |got - want| / max(|want|, 1) of y, dx and dgamma.
double largest_difference(std::size_t width) {
  const auto x = values(kRows * width, 1), f = values(kRows * width, 2), gamma = values(width, 3), beta = values(width, 4);
  const auto dy = values(kRows * width, 5), dsum = values(kRows * width, 6);
  std::vector<float> sum(kRows * width), y(sum), dx(sum), rstd(kRows), dgamma(width), dbeta(width);
  std::vector<double> mean(kRows), want_dgamma(width);
  addnorm::add_layer_norm({.rows = kRows,
                           .width = width,
                           .x = x.data(),
                           .f = f.data(),
                           .gamma = gamma.data(),
                           .beta = beta.data(),
                           .sum = sum.data(),
                           .y = y.data(),
                           .mean = mean.data(),
                           .rstd = rstd.data()});
  addnorm::add_layer_norm_grad({.rows = kRows,
                                .width = width,
                                .dy = dy.data(),
                                .dsum = dsum.data(),
                                .sum = sum.data(),
                                .mean = mean.data(),
                                .rstd = rstd.data(),
                                .gamma = gamma.data(),
                                .dx = dx.data(),
                                .dgamma = dgamma.data(),
                                .dbeta = dbeta.data()});

  double worst = 0;
  const auto compare = [&](float got, double want) {
    const double off = std::abs(static_cast<double>(got) - want) / std::max(std::abs(want), 1.0);
    worst = off <= worst ? worst : off;  // a NaN stays
  };
  const auto n = static_cast<double>(width);
  for (std::size_t r = 0; r < kRows; ++r) {
    const float *s = &sum[r * width], *d = &dy[r * width];
    double m = 0, var = 0, g_mean = 0, gx_mean = 0;
    for (std::size_t i = 0; i < width; ++i) m += static_cast<double>(s[i]) / n;
    for (std::size_t i = 0; i < width; ++i) var += (static_cast<double>(s[i]) - m) * (static_cast<double>(s[i]) - m) / n;
    const double scale = 1 / std::sqrt(var + static_cast<double>(1e-5f));
    const auto normed = [&](std::size_t i) { return (static_cast<double>(s[i]) - m) * scale; };
    const auto g = [&](std::size_t i) { return static_cast<double>(d[i]) * static_cast<double>(gamma[i]); };
    for (std::size_t i = 0; i < width; ++i) g_mean += g(i) / n, gx_mean += g(i) * normed(i) / n;
    for (std::size_t i = 0; i < width; ++i) {
      compare(s[i], static_cast<double>(x[r * width + i]) + static_cast<double>(f[r * width + i]));
      compare(y[r * width + i], normed(i) * static_cast<double>(gamma[i]) + static_cast<double>(beta[i]));
      compare(dx[r * width + i], (g(i) - g_mean - normed(i) * gx_mean) * scale + static_cast<double>(dsum[r * width + i]));
      want_dgamma[i] += static_cast<double>(d[i]) * normed(i);
    }
  }
  for (std::size_t i = 0; i < width; ++i) compare(dgamma[i], want_dgamma[i]);
  return worst;
}

}  // namespace

int main() {
  // A few roundings of 2^-24 each in y and dx; dgamma adds 64 rows in float before it goes on in double.
  constexpr double kAllowed = 64 * 0x1p-24;
  double worst = 0;
  for (const std::size_t width : {2u, 3u, 7u, 8u, 9u, 16u, 31u, 64u, 100u, 384u, 1000u, 4096u}) {
    const double off = largest_difference(width);
    worst = off <= worst ? worst : off;
  }
  const bool good = worst <= kAllowed;
  std::printf("%s plain loops: largest difference %.2g, allowed %.2g\n", good ? "agrees with" : "differs from", worst, kAllowed);
  return good ? 0 : 1;
}
