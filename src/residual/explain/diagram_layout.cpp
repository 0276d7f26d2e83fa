#include "residual/explain/diagram_layout.h"

#include <algorithm>

namespace addnorm {
namespace {

using Kind = DiagramStep::Kind;
using Steps = std::vector<DiagramStep>;
using Rung = DiagramLayout::Rung;

std::size_t lanes_of(const Steps& steps) {
  std::size_t most = 1;
  for (const DiagramStep& step : steps) {
    std::size_t here = 0;
    for (const Steps& way : step.ways) here += lanes_of(way);
    most = std::max(most, here);
  }
  return most;
}

class Placer {
 public:
  explicit Placer(DiagramLayout& out, std::size_t side) : out_(out), side_(side) {}

  /// Places steps below `row` in this lane; returns the first row that is free. The first step of a way needs no line above it.
  std::size_t place(const Steps& steps, std::size_t lane, std::size_t row, bool first_of_way, bool skip) {
    for (const DiagramStep& step : steps) {
      if (!first_of_way) {
        line(lane, row, row, skip);
        ++row;
      }
      first_of_way = false;
      row = place(step, lane, row);
    }
    return row;
  }
  void line(std::size_t lane, std::size_t first, std::size_t last, bool skip) {
    out_.verticals.push_back({lane, first, last, skip});
  }

 private:
  std::size_t place(const DiagramStep& step, std::size_t lane, std::size_t row) {
    switch (step.kind) {
      case Kind::sum:
        return sum(step, lane, row);
      case Kind::keep:
        line(lane, row, row, false);
        out_.rungs.push_back({row, lane, side_, Rung::Kind::reaches});
        return row + 1;
      case Kind::mix:
      case Kind::side_sum:
        out_.rungs.push_back({row, side_, lane, Rung::Kind::returns});
        break;
      case Kind::side_norm:
      case Kind::side_factor:
        line(lane, row, row, false);
        out_.boxes.push_back({row, side_, step.kind == Kind::side_norm ? Kind::norm : Kind::factor, step.text});
        return row + 1;
      case Kind::norm:
      case Kind::factor:
      case Kind::branch:
        break;
    }
    out_.boxes.push_back({row, lane, step.kind == Kind::side_sum ? Kind::sum : step.kind, step.text});
    return row + 1;
  }

  std::size_t sum(const DiagramStep& step, std::size_t lane, std::size_t row) {
    const std::size_t split = row;
    std::vector<std::size_t> lanes, ends;
    std::size_t next = lane;
    for (const Steps& way : step.ways) {
      const bool skip = !has_branch(way);
      lanes.push_back(next);
      ends.push_back(place(way, next, split + 1, !skip, skip));
      if (skip && !way.empty()) {  // some line above and below a factor
        line(next, ends.back(), ends.back(), true);
        ++ends.back();
      }
      if (next != lane) out_.rungs.push_back({split, lane, next, Rung::Kind::leaves, skip});
      next += lanes_of(way);
    }
    line(lane, split, split, false);
    const std::size_t join = std::max(*std::max_element(ends.begin(), ends.end()), split + 2);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const bool skip = !has_branch(step.ways[i]);
      if (ends[i] < join) line(lanes[i], ends[i], join - 1, skip);
      if (i > 0) out_.rungs.push_back({join, lanes[i], lane, Rung::Kind::joins, skip});
    }
    if (step.to_side) out_.rungs.push_back({join, lanes.back(), side_, Rung::Kind::reaches});
    out_.boxes.push_back({join, lane, Kind::sum, "+"});
    if (step.to_side) out_.boxes.push_back({join, side_, Kind::sum, "+"});
    return join + 1;
  }

  DiagramLayout& out_;
  std::size_t side_;
};

/// The second line, from where it is filled first to where it is read last.
void side_line(DiagramLayout& out, std::size_t lane) {
  std::size_t first = out.rows, last = 0;
  for (const Rung& rung : out.rungs) {
    if (rung.kind != Rung::Kind::returns && rung.kind != Rung::Kind::reaches) continue;
    first = std::min(first, rung.row);
    last = std::max(last, rung.row);
  }
  out.side_row = first;
  for (std::size_t row = first + 1; row < last; ++row) {
    const auto here = [&](const auto& one) { return one.row == row && one.lane == lane; };
    if (std::ranges::none_of(out.boxes, here)) out.verticals.push_back({lane, row, row, false});
  }
}

}  // namespace

bool has_branch(const Steps& steps) {
  return std::ranges::any_of(
      steps, [](const DiagramStep& step) { return step.kind == Kind::branch || std::ranges::any_of(step.ways, has_branch); });
}

DiagramLayout layout_of(const Diagram& diagram) {
  DiagramLayout out;
  std::size_t lanes = 1;
  for (const DiagramPart& part : diagram.layers) lanes = std::max(lanes, lanes_of(part.steps));
  out.lanes = lanes + (diagram.side.empty() ? 0 : 1);
  Placer placer(out, lanes);
  std::size_t row = placer.place(diagram.entry, 0, 1, false, false);
  for (const DiagramPart& part : diagram.layers) {
    placer.line(0, row, row + 1, false);  // through the frame's upper edge
    const std::size_t top = row + 1;
    row = placer.place(part.steps, 0, row + 2, false, false);
    placer.line(0, row, row + 1, false);
    out.frames.push_back({top, row + 1, part.label});
    row += 2;
  }
  row = placer.place(diagram.exit, 0, row, false, false);
  placer.line(0, row, row, false);
  out.rows = row + 2;
  if (!diagram.side.empty()) side_line(out, lanes);
  return out;
}

}  // namespace addnorm
