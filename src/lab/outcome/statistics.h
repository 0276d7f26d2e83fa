// Simple statistics of what experiments measure.
#pragma once

#include <span>

#include "tensor/numbers.h"

namespace addnorm::lab {

using addnorm::mean_of;
double deviation_of(std::span<const double> values);  ///< divided by n - 1; 0 of one value
double median_of(std::span<const double> values);

struct Line {
  double slope = 0;
  double intercept = 0;
  double r2 = 0;  ///< share of the variance of y that it explains
};
Line fitted_line(std::span<const double> x, std::span<const double> y);
/// The power p of y ~ x^p: slope of log y against log x.
double fitted_power(std::span<const double> x, std::span<const double> y);
/// Of the ranks, equals sharing theirs: -1 ... 1.
double spearman(std::span<const double> x, std::span<const double> y);

}  // namespace addnorm::lab
