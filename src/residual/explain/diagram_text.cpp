// Diagrams made of letters.
#include <algorithm>
#include <array>

#include "addnorm/core/error.h"
#include "residual/explain/diagram_layout.h"

namespace addnorm {
namespace {

struct Glyphs {
  const char *vertical, *horizontal, *leaves, *crosses_down, *corner_down, *corner_up, *meets_up, *sum, *into_right, *into_left;
  const char *top_left, *top_right, *bottom_left, *bottom_right, *through;
};
constexpr Glyphs kUnicode{"│", "─", "├", "┬", "╮", "╯", "┴", "⊕", "▸", "◂", "╭", "╮", "╰", "╯", "┼"};
constexpr Glyphs kAscii{"|", "-", "+", "+", "+", "+", "+", "(+)", ">", "<", "+", "+", "+", "+", "|"};

/// The characters of a UTF-8 text.
std::vector<std::string> letters_of(const std::string& text) {
  std::vector<std::string> letters;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80 && !letters.empty())
      letters.back() += c;
    else
      letters.emplace_back(1, c);
  return letters;
}

class Canvas {
 public:
  Canvas(std::size_t rows, std::size_t columns) : rows_(rows, std::vector<std::string>(columns, " ")) {}
  void put(std::size_t row, std::size_t column, const std::string& text) {
    for (const std::string& letter : letters_of(text)) rows_.at(row).at(column++) = letter;
  }
  void centred(std::size_t row, std::size_t column, const std::string& text) {
    put(row, column - (columns_of(text) - 1) / 2, text);
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const std::vector<std::string>& row : rows_) {
      std::string& line = lines.emplace_back();
      for (const std::string& letter : row) line += letter;
    }
    return lines;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

class TextDrawing {
 public:
  TextDrawing(const Diagram& diagram, Letters letters)
      : diagram_(diagram), layout_(layout_of(diagram)), ascii_(letters == Letters::ascii), glyphs_(ascii_ ? kAscii : kUnicode) {
    for (DiagramLayout::Box& box : layout_.boxes) box.text = shown(box.kind == DiagramStep::Kind::sum ? "⊕" : box.text);
    set_centres();
  }

  std::vector<std::string> lines() const {
    Canvas canvas(layout_.rows, width_);
    for (const DiagramLayout::Vertical& one : layout_.verticals)
      for (std::size_t row = one.first; row <= one.last; ++row) canvas.put(row, centres_[one.lane], glyphs_.vertical);
    for (const DiagramLayout::Frame& frame : layout_.frames) draw(canvas, frame);
    for (const DiagramLayout::Rung& rung : layout_.rungs) draw(canvas, rung);
    for (const DiagramLayout::Box& box : layout_.boxes) canvas.centred(box.row, centres_[box.lane], box.text);
    if (!diagram_.side.empty()) canvas.centred(layout_.side_row - 1, centres_.back(), shown(diagram_.side));
    canvas.centred(0, centres_[0], shown("x₀"));
    canvas.put(layout_.rows - 1, centres_[0], "y");
    return canvas.lines();
  }

 private:
  std::string shown(const std::string& text) const {
    if (text == "⊕") return glyphs_.sum;
    return ascii_ ? in_ascii(text) : text;
  }

  void set_centres() {
    std::vector<std::size_t> widths(layout_.lanes, 3);
    for (const DiagramLayout::Box& box : layout_.boxes) widths[box.lane] = std::max(widths[box.lane], columns_of(box.text));
    std::size_t left = 3;
    for (const std::size_t width : widths) {
      centres_.push_back(left + (width - 1) / 2);
      left += width + 3;
    }
    width_ = left;
    for (const DiagramLayout::Frame& frame : layout_.frames)
      width_ = std::max(width_, centres_[0] + columns_of(shown(frame.label)) + 6);
  }

  void draw(Canvas& canvas, const DiagramLayout::Frame& frame) const {
    const std::size_t right = width_ - 1;
    for (std::size_t column = 1; column < right; ++column) {
      canvas.put(frame.top, column, glyphs_.horizontal);
      canvas.put(frame.bottom, column, glyphs_.horizontal);
    }
    for (std::size_t row = frame.top + 1; row < frame.bottom; ++row) {
      canvas.put(row, 0, glyphs_.vertical);
      canvas.put(row, right, glyphs_.vertical);
    }
    canvas.put(frame.top, 0, glyphs_.top_left);
    canvas.put(frame.top, right, glyphs_.top_right);
    canvas.put(frame.bottom, 0, glyphs_.bottom_left);
    canvas.put(frame.bottom, right, glyphs_.bottom_right);
    canvas.put(frame.top, centres_[0], glyphs_.through);
    canvas.put(frame.bottom, centres_[0], glyphs_.through);
    if (!diagram_.side.empty() && frame.top > layout_.side_row) {
      canvas.put(frame.top, centres_.back(), glyphs_.through);
      if (!side_ends_in(frame)) canvas.put(frame.bottom, centres_.back(), glyphs_.through);
    }
    const std::string label = " " + shown(frame.label) + " ";
    canvas.put(frame.bottom, centres_[0] + 2, label);
  }
  bool side_ends_in(const DiagramLayout::Frame& frame) const {
    return std::ranges::none_of(layout_.rungs, [&](const DiagramLayout::Rung& rung) {
      const bool side = rung.kind == DiagramLayout::Rung::Kind::reaches || rung.kind == DiagramLayout::Rung::Kind::returns;
      return side && rung.row > frame.bottom;
    });
  }

  void draw(Canvas& canvas, const DiagramLayout::Rung& rung) const {
    using Kind = DiagramLayout::Rung::Kind;
    const std::size_t from = centres_[rung.from], to = centres_[rung.to];
    const auto [left, right] = std::minmax(from, to);
    for (std::size_t column = left + 1; column < right; ++column) {
      if (canvas_has_corner(rung, column)) continue;
      canvas.put(rung.row, column, glyphs_.horizontal);
    }
    switch (rung.kind) {
      case Kind::leaves:
        canvas.put(rung.row, from, glyphs_.leaves);
        canvas.put(rung.row, to, further(rung) ? glyphs_.crosses_down : glyphs_.corner_down);
        break;
      case Kind::joins:
        canvas.put(rung.row, from, further(rung) ? glyphs_.meets_up : glyphs_.corner_up);
        break;
      case Kind::reaches:
        if (!joins_here(rung)) canvas.put(rung.row, from, glyphs_.leaves);
        if (!is_sum(rung.row, rung.to)) canvas.put(rung.row, to, first_of_side(rung) ? glyphs_.corner_down : "┤");
        if (ascii_ && !is_sum(rung.row, rung.to)) canvas.put(rung.row, to, "+");
        canvas.put(rung.row, to - (is_sum(rung.row, rung.to) ? columns_of(shown("⊕")) / 2 + 1 : 1), glyphs_.into_right);
        break;
      case Kind::returns:
        canvas.put(rung.row, from, ends_side(rung) ? glyphs_.corner_up : ascii_ ? "+" : "┤");
        canvas.put(rung.row, to + text_half(rung) + 1, glyphs_.into_left);
        break;
    }
  }

  bool canvas_has_corner(const DiagramLayout::Rung& rung, std::size_t column) const {
    return std::ranges::any_of(layout_.rungs, [&](const DiagramLayout::Rung& other) {
      return other.row == rung.row && (centres_[other.to] == column || centres_[other.from] == column);
    });
  }
  /// Another rung of this row goes on after the end of this one.
  bool further(const DiagramLayout::Rung& rung) const {
    const std::size_t end = std::max(rung.from, rung.to);
    return std::ranges::any_of(layout_.rungs, [&](const DiagramLayout::Rung& other) {
      return other.row == rung.row && std::max(other.from, other.to) > end;
    });
  }
  bool joins_here(const DiagramLayout::Rung& rung) const {
    return std::ranges::any_of(layout_.rungs, [&](const DiagramLayout::Rung& other) {
      return other.row == rung.row && other.kind == DiagramLayout::Rung::Kind::joins;
    });
  }
  bool is_sum(std::size_t row, std::size_t lane) const {
    return std::ranges::any_of(layout_.boxes, [&](const DiagramLayout::Box& box) {
      return box.row == row && box.lane == lane && box.kind == DiagramStep::Kind::sum;
    });
  }
  bool first_of_side(const DiagramLayout::Rung& rung) const { return rung.row == layout_.side_row; }
  bool ends_side(const DiagramLayout::Rung& rung) const {
    return std::ranges::none_of(
        layout_.verticals, [&](const DiagramLayout::Vertical& line) { return line.lane == rung.from && line.last > rung.row; });
  }
  /// Columns to the right of the centre that the box at the end of a rung takes.
  std::size_t text_half(const DiagramLayout::Rung& rung) const {
    for (const DiagramLayout::Box& box : layout_.boxes)
      if (box.row == rung.row && box.lane == rung.to) return columns_of(box.text) / 2;
    return 0;
  }

  const Diagram& diagram_;
  DiagramLayout layout_;
  bool ascii_;
  const Glyphs& glyphs_;
  std::vector<std::size_t> centres_;
  std::size_t width_ = 0;
};

constexpr std::array<std::array<const char*, 2>, 39> kAsciiOf{{
    {"α", "alpha"}, {"β", "beta"}, {"γ", "gamma"}, {"λ", "lambda"}, {"ω", "omega"},  {"ε", "eps"}, {"σ", "sigma"}, {"μ", "mu"},
    {"φ", "phi"},   {"Σ", "sum"},  {"√", "sqrt"},  {"⊙", "*"},      {"·", "*"},      {"×", "*"},   {"−", "-"},     {"¼", "1/4"},
    {"½", "1/2"},   {"¾", "3/4"},  {"²", "^2"},    {"≤", "<="},     {"…", "..."},    {"₀", "_0"},  {"₁", "_1"},    {"₂", "_2"},
    {"₃", "_3"},    {"ₒ", "_o"},   {"ₖ", "_k"},    {"‖", "||"},     {"⌊", "floor("}, {"⌋", ")"},   {"–", "-"},     {"•", "*"},
    {"⊕", "(+)"},   {"₄", "_4"},   {"₅", "_5"},    {"₆", "_6"},     {"₇", "_7"},     {"₈", "_8"},  {"₉", "_9"},
}};

}  // namespace

std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string in_ascii(const std::string& text) {
  std::string out;
  for (const std::string& letter : letters_of(text)) {
    const auto found = std::ranges::find_if(kAsciiOf, [&](const auto& pair) { return letter == pair[0]; });
    out += found != kAsciiOf.end() ? (*found)[1] : letter.size() == 1 ? letter : "?";
  }
  return out;
}

std::string text_diagram(std::span<const Diagram> diagrams, Letters letters) {
  std::vector<std::vector<std::string>> columns;
  std::size_t height = 0;
  for (const Diagram& diagram : diagrams) {
    std::vector<std::string> lines = TextDrawing(diagram, letters).lines();
    if (diagrams.size() > 1) {
      std::string name = "   " + diagram.name;
      name.resize(std::max(name.size(), columns_of(lines.front())), ' ');
      lines.insert(lines.begin(), {name, std::string(columns_of(name), ' ')});
    }
    columns.push_back(lines);
    height = std::max(height, lines.size());
  }
  std::string all;
  for (std::size_t row = 0; row < height; ++row) {
    std::string line;
    for (const std::vector<std::string>& lines : columns) {
      const std::size_t width = columns_of(lines.front());
      line += row < lines.size() ? lines[row] : std::string(width, ' ');
      line += std::string(width - std::min(width, row < lines.size() ? columns_of(lines[row]) : width), ' ') + "     ";
    }
    all += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return all;
}

}  // namespace addnorm
