// Diagrams as one standalone SVG document.
#include <algorithm>

#include "addnorm/core/error.h"
#include "residual/explain/diagram_layout.h"

namespace addnorm {
namespace {

constexpr double kPitch = 24;   // from row to row
constexpr double kLetter = 8;   // width of a character at font size 14
constexpr double kMargin = 24;  // around everything
constexpr double kGap = 28;     // between lanes

// Colours stand in each rule, without variables: not every program that shows SVG knows those.
constexpr const char* kStyle =
    "<style>\n"
    "  text { fill: #1c2430; font: 14px system-ui, sans-serif; text-anchor: middle }\n"
    "  text.name { font-weight: 600; font-size: 16px }\n"
    "  text.label { fill: #667080; font-size: 12px; text-anchor: start }\n"
    "  path { fill: none; stroke: #1c2430; stroke-width: 1.5 }\n"
    "  path.skip { stroke: #c2410c; stroke-width: 3 }\n"
    "  rect { stroke: #1c2430 }\n"
    "  .page { fill: #ffffff; stroke: none }\n"
    "  .frame { fill: none; stroke: #8a94a3; stroke-dasharray: 5 4 }\n"
    "  .norm { fill: #dbeafe }\n"
    "  .branch { fill: #eef2f6 }\n"
    "  .factor { fill: #fef3c7 }\n"
    "  .sum { fill: #ffffff; stroke: #1c2430; stroke-width: 1.5 }\n"
    "  @media (prefers-color-scheme: dark) {\n"
    "    text { fill: #e6eaf0 }\n"
    "    text.label { fill: #98a3b3 }\n"
    "    path, rect { stroke: #e6eaf0 }\n"
    "    path.skip { stroke: #fb923c }\n"
    "    .page { fill: #14181f; stroke: none }\n"
    "    .frame { stroke: #7b8698 }\n"
    "    .norm { fill: #1e3a5f }\n"
    "    .branch { fill: #262d38 }\n"
    "    .factor { fill: #4a3c12 }\n"
    "    .sum { fill: #14181f; stroke: #e6eaf0 }\n"
    "  }\n"
    "</style>\n";

std::string xml_escaped(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

const char* class_of(DiagramStep::Kind kind) {
  if (kind == DiagramStep::Kind::norm) return "norm";
  return kind == DiagramStep::Kind::branch ? "branch" : "factor";
}

class SvgDrawing {
 public:
  SvgDrawing(const Diagram& diagram, double left, double top, bool named)
      : diagram_(diagram), layout_(layout_of(diagram)), left_(left), top_(top + (named ? kPitch : 0)), named_(named) {
    std::vector<double> widths(layout_.lanes, 24);
    for (const DiagramLayout::Box& box : layout_.boxes)
      if (box.kind != DiagramStep::Kind::sum) widths[box.lane] = std::max(widths[box.lane], width_of(box));
    double x = left_ + 16;
    for (const double width : widths) {
      centres_.push_back(x + width / 2);
      x += width + kGap;
    }
    right_ = x - kGap + 16;
    for (const DiagramLayout::Frame& frame : layout_.frames)
      right_ = std::max(right_, centres_[0] + 20 + kLetter * static_cast<double>(columns_of(frame.label)));
    right_ = std::max(right_, left_ + 9 * static_cast<double>(columns_of(diagram.name)));
  }
  double right() const { return right_; }
  double bottom() const { return y_of(layout_.rows) + 4; }

  std::string draw() const {
    std::string out = concat("<g aria-label=\"", xml_escaped(diagram_.name), "\">\n");
    if (named_) out += text("name", (left_ + right_) / 2, top_ - kPitch + 4, diagram_.name);
    for (const DiagramLayout::Frame& frame : layout_.frames) out += draw(frame);
    for (const bool skip : {false, true}) {  // skips lie above the other lines
      for (const DiagramLayout::Vertical& line : layout_.verticals)
        if (line.skip == skip) out += draw(line);
      for (const DiagramLayout::Rung& rung : layout_.rungs)
        if (rung.skip == skip) out += draw(rung);
    }
    for (const DiagramLayout::Box& box : layout_.boxes) out += draw(box);
    out += text("", centres_[0], y_of(0) + 5, "x₀") + text("", centres_[0], y_of(layout_.rows - 1) + 5, "y");
    if (!diagram_.side.empty()) out += text("", centres_.back(), y_of(layout_.side_row - 1) + 5, diagram_.side);
    return out + "</g>\n";
  }

 private:
  static double width_of(const DiagramLayout::Box& box) { return kLetter * static_cast<double>(columns_of(box.text)) + 16; }
  double y_of(std::size_t row) const { return top_ + kPitch * static_cast<double>(row); }

  static std::string text(const char* kind, double x, double y, const std::string& words) {
    return concat("<text class=\"", kind, "\" x=\"", x, "\" y=\"", y, "\">", xml_escaped(words), "</text>\n");
  }
  static std::string line(double x0, double y0, double x1, double y1, bool skip) {
    return concat("<path", skip ? " class=\"skip\"" : "", " d=\"M", x0, " ", y0, " L", x1, " ", y1, "\"/>\n");
  }
  std::string draw(const DiagramLayout::Vertical& one) const {
    const double x = centres_[one.lane];
    return line(x, y_of(one.first) - kPitch / 2, x, y_of(one.last) + kPitch / 2, one.skip);
  }
  /// Along the row, with a turn into the way at its far end.
  std::string draw(const DiagramLayout::Rung& rung) const {
    using Kind = DiagramLayout::Rung::Kind;
    const double y = y_of(rung.row), from = centres_[rung.from], to = centres_[rung.to];
    const bool turns = rung.kind == Kind::leaves || rung.kind == Kind::joins || (rung.kind == Kind::reaches && starts_side(rung));
    if (!turns) {
      const bool from_branch = rung.kind == Kind::reaches && rung.from > 0;  // its way back to the sum turns there
      std::string all = line(from_branch ? from - kPitch / 2 : from, y, to, y, rung.skip);
      if (rung.kind == Kind::returns) all += line(from, y - kPitch / 2, from, y, rung.skip);
      return all;
    }
    const double turn = kPitch / 2, far = std::max(from, to), near = std::min(from, to);
    const double end = rung.kind == Kind::joins ? y - turn : y + turn;
    return concat("<path", rung.skip ? " class=\"skip\"" : "", " d=\"M", near, " ", y, " L", far - turn, " ", y, " Q", far, " ",
                  y, " ", far, " ", end, "\"/>\n");
  }
  bool starts_side(const DiagramLayout::Rung& rung) const { return rung.row == layout_.side_row; }

  std::string draw(const DiagramLayout::Box& box) const {
    const double x = centres_[box.lane], y = y_of(box.row);
    if (box.kind == DiagramStep::Kind::sum)
      return concat("<path d=\"M", x, " ", y - 12, " L", x, " ", y + 12, "\"/>\n<circle class=\"sum\" cx=\"", x, "\" cy=\"", y,
                    "\" r=\"9\"/>\n<path d=\"M", x - 5, " ", y, " L", x + 5, " ", y, " M", x, " ", y - 5, " L", x, " ", y + 5,
                    "\"/>\n");
    const double width = width_of(box);
    return concat("<rect class=\"", class_of(box.kind), "\" x=\"", x - width / 2, "\" y=\"", y - 13, "\" width=\"", width,
                  "\" height=\"26\" rx=\"6\"/>\n") +
           text("", x, y + 5, box.text);
  }
  std::string draw(const DiagramLayout::Frame& frame) const {
    return concat("<rect class=\"frame\" x=\"", left_, "\" y=\"", y_of(frame.top), "\" width=\"", right_ - left_, "\" height=\"",
                  y_of(frame.bottom) - y_of(frame.top), "\" rx=\"8\"/>\n") +
           text("label", centres_[0] + 12, y_of(frame.bottom) - 6, frame.label);
  }

  const Diagram& diagram_;
  DiagramLayout layout_;
  double left_, top_;
  bool named_;
  std::vector<double> centres_;
  double right_ = 0;
};

}  // namespace

std::string svg_diagram(std::span<const Diagram> diagrams) {
  std::string body, title;
  double right = kMargin, bottom = 0;
  for (const Diagram& diagram : diagrams) {
    const SvgDrawing drawing(diagram, right, kMargin, true);
    body += drawing.draw();
    right = drawing.right() + 2 * kMargin;
    bottom = std::max(bottom, drawing.bottom());
    title += (title.empty() ? "" : ", ") + diagram.name;
  }
  const double width = right - kMargin;
  return concat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"",
                width, "\" height=\"", bottom, "\" viewBox=\"0 0 ", width, " ", bottom, "\">\n<title>", xml_escaped(title),
                "</title>\n", kStyle, "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n", body, "</svg>\n");
}

}  // namespace addnorm
