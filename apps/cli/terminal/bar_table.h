// A table whose columns may have bars beside their numbers, and which gives up columns where the terminal is narrow.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/terminal.h"

namespace addnorm::cli {

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
