#include "cli/terminal/plot.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/residual/diagram.h"

namespace addnorm::cli {

const char* block(double share, bool unicode) {
  static constexpr std::array kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::array kLetters{"_", ".", ",", "-", "=", "+", "*", "#"};
  const double height = std::isfinite(share) ? std::clamp(std::floor(share * 8), 0.0, 7.0) : 7.0;
  return (unicode ? kBlocks : kLetters)[static_cast<std::size_t>(height)];
}

std::string sparkline(const std::vector<double>& values, std::size_t width, double low, double high, bool unicode) {
  std::string text;
  for (std::size_t column = 0; column < width && !values.empty(); ++column) {
    const std::size_t begin = column * values.size() / width, end = std::max(begin + 1, (column + 1) * values.size() / width);
    const double v =
        *std::min_element(values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end));
    if (!(v > 0) || !std::isfinite(v)) {
      text += " ";
      continue;
    }
    const double share = (std::log10(v) - low) / std::max(1e-9, high - low);
    text += block(share, unicode);
  }
  return text;
}

namespace {

constexpr std::size_t kBar = 10, kInPipes = 120, kGap = 2;

std::size_t number_width(const BarColumn& column) {
  std::size_t most = 0;
  for (const std::string& cell : column.cells) most = std::max(most, columns_of(cell));
  return most;
}

std::size_t width_of(const BarColumn& column) {
  const std::size_t cells = number_width(column) + (column.bars.empty() ? 0 : 1 + kBar);
  return std::max({cells, columns_of(column.upper), columns_of(column.lower)});
}

std::size_t width_of(const std::vector<BarColumn>& columns) {
  std::size_t all = 0;
  for (const BarColumn& column : columns) all += width_of(column) + kGap;
  return all - kGap;
}

std::string to_the_right(const std::string& text, std::size_t columns) {
  const std::size_t have = columns_of(text);
  return have < columns ? std::string(columns - have, ' ') + text : text;
}

std::string cell_of(const BarColumn& column, std::size_t row, const Terminal& terminal) {
  const std::size_t width = width_of(column);
  if (column.text) return padded(column.cells[row], width);
  if (column.bars.empty()) return to_the_right(column.cells[row], width);
  const std::string number = to_the_right(column.cells[row], width - kBar - 1);
  const bool blank = column.cells[row].empty() || !std::isfinite(column.bars[row]);
  return number + " " + (blank ? std::string(kBar, ' ') : bar(column.bars[row], kBar, terminal));
}

std::string heading_of(const BarColumn& column) {
  return column.upper + (column.upper.empty() || column.lower.empty() ? "" : " ") + column.lower;
}

std::string line_of(std::string text) { return text.substr(0, text.find_last_not_of(' ') + 1) + "\n"; }

}  // namespace

std::string bar(double share, std::size_t columns, const Terminal& terminal) {
  static constexpr std::array kParts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double eighths = std::clamp(share, 0.0, 1.0) * static_cast<double>(8 * columns);
  const auto count = static_cast<std::size_t>(std::lround(eighths));
  std::string text;
  for (std::size_t i = 0; i < count / 8; ++i) text += terminal.unicode ? "█" : "#";
  text += terminal.unicode ? kParts[count % 8] : count % 8 >= 4 ? "-" : "";
  if (!text.empty() && terminal.colour) {
    const std::size_t have = columns_of(text);
    return "\033[36m" + text + "\033[0m" + std::string(columns - have, ' ');
  }
  return padded(text, columns);
}

std::string bar_table(std::vector<BarColumn> columns, const Terminal& terminal) {
  const std::size_t room = terminal.columns == 0 ? kInPipes : terminal.columns;
  std::string left_out;
  while (width_of(columns) > room) {
    const auto least = std::ranges::max_element(columns, {}, &BarColumn::rank);
    if (least->rank == 0) break;
    left_out += concat(left_out.empty() ? "no room for: " : ", ", heading_of(*least));
    columns.erase(least);
  }
  std::string upper, lower, text;
  for (const BarColumn& column : columns) {
    const std::size_t width = width_of(column);
    const bool left = column.text || !column.bars.empty();
    const std::string gap(&column == &columns.front() ? 0 : kGap, ' ');
    upper += gap + (left ? padded(column.upper, width) : to_the_right(column.upper, width));
    lower += gap + (left ? padded(column.lower, width) : to_the_right(column.lower, width));
  }
  text = line_of(upper) + line_of(lower);
  for (std::size_t row = 0; row < columns.front().cells.size(); ++row) {
    std::string line;
    for (const BarColumn& column : columns)
      line += std::string(&column == &columns.front() ? 0 : kGap, ' ') + cell_of(column, row, terminal);
    text += line_of(line);
  }
  if (!left_out.empty())
    for (const std::string& line : wrapped(left_out + "; a wider terminal and --json have them", room)) text += line + "\n";
  return text;
}

}  // namespace addnorm::cli
