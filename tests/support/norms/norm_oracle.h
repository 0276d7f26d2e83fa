// An independent oracle for Add & Norm: long double, written from the formula, sharing no code with the library.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace addnorm::test {

/// Forward of one row of sums.
struct NormRow {
  std::vector<double> xhat;
  long double mean = 0;
  long double rstd = 0;
};

inline NormRow exact_norm(std::span<const float> sum, bool layer, long double eps) {
  const auto n = static_cast<long double>(sum.size());
  NormRow row;
  if (layer) {
    for (const float s : sum) row.mean += static_cast<long double>(s);
    row.mean /= n;
    long double rest = 0;  // the mean again, of what is left: long double alone is short at 1e20
    for (const float s : sum) rest += static_cast<long double>(s) - row.mean;
    row.mean += rest / n;
  }
  long double squares = 0;
  for (const float s : sum) squares += (static_cast<long double>(s) - row.mean) * (static_cast<long double>(s) - row.mean);
  row.rstd = 1 / std::sqrt(squares / n + eps);
  row.xhat.reserve(sum.size());
  for (const float s : sum) row.xhat.push_back(static_cast<double>((static_cast<long double>(s) - row.mean) * row.rstd));
  return row;
}

/// d(sum) of one row: rstd * (g - mean(g) - xhat * mean(g * xhat)), without mean(g) for RMS.
inline std::vector<double> exact_norm_grad(const NormRow& row, std::span<const double> g, bool layer) {
  const auto n = static_cast<long double>(g.size());
  long double mean_g = 0, mean_gx = 0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    mean_g += static_cast<long double>(g[i]);
    mean_gx += static_cast<long double>(g[i]) * static_cast<long double>(row.xhat[i]);
  }
  mean_g /= n;
  mean_gx /= n;
  std::vector<double> d(g.size());
  for (std::size_t i = 0; i < g.size(); ++i)
    d[i] = static_cast<double>(
        row.rstd * (static_cast<long double>(g[i]) - (layer ? mean_g : 0) - static_cast<long double>(row.xhat[i]) * mean_gx));
  return d;
}

}  // namespace addnorm::test
