// Small plots of text.
#pragma once

#include <string>
#include <vector>

namespace addnorm::cli {

/// `values` on a logarithmic scale from 10^low to 10^high, in `width` columns: each shows the smallest value of its share, so
/// that a gap is not lost. Blocks of eight heights, or digits 0 ... 7 in ASCII. What is 0 or not finite: a space.
std::string sparkline(const std::vector<double>& values, std::size_t width, double low, double high, bool unicode);
/// Two figures that matter: "0.003", "14", "4.1e+05".
std::string short_figure(double x);

}  // namespace addnorm::cli
