// Means over seeds, and when two of them differ.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "addnorm/lab/grid_result.h"

namespace addnorm {
namespace {

constexpr std::size_t kLeastSeeds = 3;

/// The 0.975 quantile of Student's t with nu degrees of freedom; between whole numbers that of the lower one, which is the
/// larger.
double student_t(double nu) {
  static constexpr std::array kQuantiles{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                         2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                         2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  const auto whole = static_cast<std::size_t>(std::clamp(std::floor(nu), 1.0, 1e6));
  return whole <= kQuantiles.size() ? kQuantiles[whole - 1] : 2.042;
}

/// The regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz). x below (a + 1) / (a + b + 2).
double incomplete_beta(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto kept_off_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x)) / a;
  double c = 1, d = 1 / kept_off_zero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (double m = 1; m < 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double term : {even, odd}) {
      d = 1 / kept_off_zero(1 + term * d);
      c = kept_off_zero(1 + term / c);
      change = c * d;
      fraction *= change;
    }
    if (std::abs(change - 1) < 1e-14) break;
  }
  return front * fraction;
}

/// P(|T| > t) of Student's t with nu degrees of freedom: I_x(nu / 2, 1 / 2), x = nu / (nu + t^2).
double two_sided_p(double t, double nu) {
  const double x = nu / (nu + t * t), a = nu / 2, b = 0.5;
  if (x >= 1) return 1;
  return x < (a + 1) / (a + b + 2) ? incomplete_beta(a, b, x) : 1 - incomplete_beta(b, a, 1 - x);
}

}  // namespace

Spread spread_of(std::span<const double> values) {
  Spread spread{.count = values.size()};
  if (values.empty()) {
    spread.mean = spread.deviation = spread.least = spread.most = std::nan("");
    return spread;
  }
  const auto n = static_cast<double>(values.size());
  for (const double value : values) spread.mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = values.size() > 1 ? std::sqrt(squares / (n - 1)) : std::nan("");
  spread.least = std::ranges::min(values);
  spread.most = std::ranges::max(values);
  return spread;
}

MeanDifference difference_of(const Spread& a, const Spread& b) {
  MeanDifference found{.difference = a.mean - b.mean, .margin = std::nan("")};
  if (a.count < kLeastSeeds || b.count < kLeastSeeds) return found;
  const double na = static_cast<double>(a.count), nb = static_cast<double>(b.count);
  const double va = a.deviation * a.deviation / na, vb = b.deviation * b.deviation / nb;
  if (!std::isfinite(va + vb) || !std::isfinite(found.difference)) return found;  // a run that broke off has no loss to compare
  if (va + vb == 0) {
    found.margin = 0;
    found.p = found.difference == 0 ? 1 : 0;
    return found;
  }
  const double share = va / (va + vb);  // of the variance; squares of the variances themselves may underflow
  const double nu = 1 / (share * share / (na - 1) + (1 - share) * (1 - share) / (nb - 1));
  found.margin = student_t(nu) * std::sqrt(va + vb);
  found.p = two_sided_p(found.difference / std::sqrt(va + vb), nu);
  return found;
}

}  // namespace addnorm
