// Where the parts of a diagram stand: rows from top to bottom, lanes from left to right. Text and SVG draw the same layout.
#pragma once

#include <string>
#include <vector>

#include "addnorm/residual/diagram.h"

namespace addnorm {

struct DiagramLayout {
  struct Box {
    std::size_t row, lane;
    DiagramStep::Kind kind;
    std::string text;
  };
  struct Vertical {  ///< from row `first` to row `last`, both ends included
    std::size_t lane, first, last;
    bool skip;
  };
  struct Rung {
    enum class Kind : unsigned char {
      leaves,   ///< from the line at `from` to the way at `to`
      joins,    ///< from the way at `from` back to the sum at `to`
      reaches,  ///< from `from` to the second line at `to`, past nothing
      returns,  ///< from the second line at `from` to `to`
    };
    std::size_t row, from, to;
    Kind kind;
    bool skip = false;
  };
  struct Frame {
    std::size_t top, bottom;
    std::string label;
  };

  std::vector<Box> boxes{};  ///< sums among them, with the text "+"
  std::vector<Vertical> verticals{};
  std::vector<Rung> rungs{};
  std::vector<Frame> frames{};
  std::size_t rows = 0, lanes = 0;
  std::size_t side_row = 0;  ///< where the second line begins; its name stands above
};
/// The input stands in row 0, the output in the last one, both in lane 0; the second line, if any, is the last lane.
DiagramLayout layout_of(const Diagram& diagram);

/// A way without any is a skip.
bool has_branch(const std::vector<DiagramStep>& way);

}  // namespace addnorm
