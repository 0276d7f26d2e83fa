// Plots of text: blocks, curves of one line, bars, and tables whose columns have bars.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/terminal/terminal.h"

namespace addnorm::cli {

/// One of eight heights for a share from 0 to 1, as a block or in ASCII; what is not finite is the highest.
const char* block(double share, bool unicode);
/// `values` on a logarithmic scale from 10^low to 10^high, in `width` columns: each shows the smallest value of its share, so
/// that a gap is not lost. What is 0 or not finite: a space.
std::string sparkline(const std::vector<double>& values, std::size_t width, double low, double high, bool unicode);

/// A column of a table that may have bars beside its numbers, and is given up where the terminal is narrow.
struct BarColumn {
  std::string upper, lower;        ///< the two lines of its heading
  std::vector<std::string> cells;  ///< one per row; "": nothing
  std::vector<double> bars{};      ///< 0 to 1, as many as rows; empty: no bars
  int rank = 0;                    ///< the highest goes first where there is no room; 0 stays
  bool text = false;               ///< to the left, where numbers stand to the right
};

/// A bar of at most `columns` columns for a share of 0 to 1, in eighths of a column, or in ASCII; padded to that width.
std::string bar(double share, std::size_t columns, const Terminal& terminal);

/// Lines as wide as the terminal at most, as long as a column of rank above 0 can go; in a pipe 120. Below it stands which
/// columns had no room.
std::string bar_table(std::vector<BarColumn> columns, const Terminal& terminal);

}  // namespace addnorm::cli
