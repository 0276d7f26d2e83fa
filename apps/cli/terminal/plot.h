// Small plots of text.
#pragma once

#include <string>
#include <vector>

namespace addnorm::cli {

/// One of eight heights for a share from 0 to 1, as a block or in ASCII; what is not finite is the highest.
const char* block(double share, bool unicode);
/// `values` on a logarithmic scale from 10^low to 10^high, in `width` columns: each shows the smallest value of its share, so
/// that a gap is not lost. What is 0 or not finite: a space.
std::string sparkline(const std::vector<double>& values, std::size_t width, double low, double high, bool unicode);

}  // namespace addnorm::cli
