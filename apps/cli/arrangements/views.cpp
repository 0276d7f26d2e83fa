#include "cli/arrangements/views.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "addnorm/residual/diagram.h"
#include "addnorm/residual/explain.h"
#include "core/figures.h"
#include "nn/norms/norm_kind_info.h"

namespace addnorm::cli {
namespace {

constexpr std::size_t kWidth = 512;        // only so that stacks are complete: the output does not depend on it
constexpr std::size_t kWideTable = 110;    // from here on a table has columns
constexpr std::size_t kLabel = 16;         // of a page: room for what a line is about
constexpr std::size_t kMostColumns = 100;  // longer lines of text are hard to read

std::string number(double value) {
  const bool all_before_the_point = value >= 1e3 && value < 1e6;
  return all_before_the_point ? significant(std::round(value), 6) : significant(value, 3);
}

std::string final_norm_text(const Arrangement& row, const ArrangementView& view) {
  return row.exit && !symbol_of(view.norm).empty() ? symbol_of(view.norm) : "–";
}
std::string source_text(const Arrangement& row) {
  const std::string source = row.source.empty() ? "a row of your own" : row.source;
  return row.year == 0 ? source : concat(source, " (", row.year, ")");
}
std::string formula_text(const Arrangement& row, const ArrangementView& view) {
  return units_text(formula_of(row, view.stacks.back(), view.norm));
}

/// Cells side by side, each wrapped to its width (0: as long as it is).
std::string table_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths, bool wrap) {
  std::vector<std::vector<std::string>> columns;
  std::size_t height = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    columns.push_back(wrapped(cells[i], wrap ? widths[i] : 0));
    height = std::max(height, columns.back().size());
  }
  std::string all;
  for (std::size_t line = 0; line < height; ++line) {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i)
      text += padded(line < columns[i].size() ? columns[i][line] : "", widths[i]) + "  ";
    all += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  return all;
}

std::string wide_table(const std::vector<std::vector<std::string>>& lines, std::size_t columns) {
  std::vector<std::size_t> widths(lines.front().size(), 0);
  for (const std::vector<std::string>& cells : lines)
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], columns_of(cells[i]));
  if (columns > 0) {  // formula, source and users share what the others leave
    const std::size_t left = columns - widths[0] - widths[2] - 8;
    widths[1] = std::min(widths[1], left * 2 / 5);
    widths[3] = std::min(widths[3], left * 3 / 10);
    widths[4] = left - widths[1] - widths[3];
  }
  std::string all;
  for (const std::vector<std::string>& cells : lines) all += table_line(cells, widths, columns > 0);
  return all;
}

/// A formula cut after each of its statements.
std::vector<std::string> lines_of_formula(const std::string& formula) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t at = formula.find("; "); at != std::string::npos; at = formula.find("; ", begin)) {
    lines.push_back(formula.substr(begin, at + 1 - begin));
    begin = at + 2;
  }
  lines.push_back(formula.substr(begin));
  return lines;
}

/// One label and its text, wrapped to the right of it.
std::string entry(const std::string& label, const std::string& text, std::size_t columns) {
  std::string all, before = padded(label, kLabel - 1) + " ";
  for (const std::string& line : wrapped(text, columns == 0 ? 0 : std::max<std::size_t>(columns, 40) - kLabel)) {
    const std::string whole = before + line;
    all += whole.substr(0, whole.find_last_not_of(' ') + 1) + "\n";
    before = std::string(kLabel, ' ');
  }
  return all;
}

/// Diagrams of every stack of every row.
std::vector<Diagram> diagrams_of(const Rows& rows, const ArrangementView& view) {
  std::vector<Diagram> all;
  for (const Arrangement* row : rows)
    for (const StackShape& stack : view.stacks) {
      all.push_back(diagram_of(*row, stack, view.norm));
      if (view.stacks.size() > 1) all.back().name += concat(", ", stack.kind == StackKind::encoder ? "encoder" : "decoder");
    }
  return all;
}

/// Side by side as far as they fit.
std::string drawn(const std::vector<Diagram>& diagrams, const Terminal& terminal) {
  const Letters letters = terminal.unicode ? Letters::unicode : Letters::ascii;
  const std::span<const Diagram> all(diagrams);
  std::string text = text_diagram(all, letters);
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, columns_of(line));
  if (terminal.columns == 0 || widest <= terminal.columns || diagrams.size() == 1) return text;
  text.clear();
  for (std::size_t i = 0; i < diagrams.size(); ++i)
    text += concat(i == 0 ? "" : "\n", "   ", diagrams[i].name, "\n\n", text_diagram(all.subspan(i, 1), letters));
  return text;
}

/// "encoder: " where there are two stacks.
std::string stack_prefix(const StackShape& stack, const ArrangementView& view) {
  return view.stacks.size() > 1 ? concat(name_of(stack.kind), ": ") : "";
}

/// One row of numbers, a column for each depth.
template <class Of>
std::string at_every_depth(const StackShape& stack, Of of) {
  std::string all;
  for (const std::size_t layers : kGainDepths) all += padded(of(with_layers(stack, layers)), 11);
  return all;
}

std::string gain_lines(const Arrangement& row, const ArrangementView& view, std::size_t columns) {
  const std::string reason = no_gain_reason(row, view);
  if (!reason.empty()) return entry("skip gain", concat("none: ", reason), columns);
  std::string all =
      entry("skip gain", at_every_depth(view.stacks[0], [](const StackShape& at) { return concat(at.layers, " layers"); }), 0);
  for (const StackShape& stack : view.stacks) {
    const auto gain = [&](const StackShape& at) { return number(skip_gain(row, at)->gain); };
    const auto with_init = [&](const StackShape& at) { return number(skip_gain(row, at, NormalInit::with_its_gains)->gain); };
    const auto deviation = [&](const StackShape& at) { return number(skip_gain(row, at)->deviation); };
    const std::string gains = at_every_depth(stack, gain), own = at_every_depth(stack, with_init);
    all += entry(view.stacks.size() > 1 ? concat("  ", name_of(stack.kind)) : "", gains, 0);
    if (own != gains) all += entry("  with its init", own, 0);
    if (std::abs(skip_gain(row, stack)->deviation - 1) > 1e-9) all += entry("  output std", at_every_depth(stack, deviation), 0);
  }
  return all;
}

std::string text_of_formula(const Arrangement& row, const ArrangementView& view, std::size_t columns) {
  const Formula formula = formula_of(row, view.stacks.back(), view.norm);
  std::string all;
  for (const FormulaLine& line : formula.units)
    all += entry(all.empty() ? "formula" : "", line.where.empty() ? line.text : concat(line.where, ": ", line.text), columns);
  all += entry("entry", formula.entry, columns) + entry("exit", formula.exit, columns);
  const std::vector<std::string> first = formula_of(row, view.stacks.front(), view.norm).symbols;
  const bool same = first == formula.symbols;  // in both stacks
  std::string label = "where";
  for (const StackShape& stack : view.stacks) {
    if (same && &stack != &view.stacks.front()) break;
    for (const std::string& symbol : formula_of(row, stack, view.norm).symbols) {
      all += entry(label, (same ? "" : stack_prefix(stack, view)) + symbol, columns);
      label.clear();
    }
  }
  return all;
}

/// "  L = 12"; of two stacks that are not as deep as one another "  N = 18, M = 6".
std::string depths_text(const ArrangementView& view) {
  const std::size_t first = view.stacks.front().layers, last = view.stacks.back().layers;
  return first == last ? concat("  L = ", last) : concat("  N = ", first, ", M = ", last);
}

std::string text_of_init(const Arrangement& row, const ArrangementView& view, std::size_t columns) {
  const std::string name = row.init.name.empty() ? "of this row" : row.init.name;
  std::string all = entry("init", row.init.source.empty() ? name : concat(name, ": ", row.init.source), columns);
  std::string label = depths_text(view);
  for (const StackShape& stack : view.stacks)
    for (const InitLine& line : init_lines(row, stack))
      all += entry(std::exchange(label, ""), concat(stack_prefix(stack, view), line.what, ": ", line.rule), columns);
  label = "  contained";
  for (const std::string& line : contained_init(row, {view.stacks.begin(), view.stacks.end()}))
    all += entry(std::exchange(label, ""), line, columns);
  return all;
}

std::size_t depth_given(const char* option, std::int64_t layers) {
  constexpr std::int64_t kMost = 1'000'000;
  require(layers >= 1 && layers <= kMost, option, " is ", layers, "; it must be from 1 to ", kMost);
  return static_cast<std::size_t>(layers);
}

/// "2d per unit"; "d: the stream's width, f: that inside the feed-forward part, H: heads".
std::string parameters_text(const Arrangement& row, const ArrangementView& view) {
  const std::string text = extra_parameters_text(row, view.stacks.back(), view.norm);
  const std::size_t shared = text.find(", and ");
  return concat(text.substr(0, shared), " per unit", shared == std::string::npos ? "" : text.substr(shared));
}

std::string about(const Arrangement& row, const ArrangementView& view, std::size_t columns) {
  std::string all = entry(row.name, source_text(row), columns) + text_of_formula(row, view, columns);
  all += entry("parameters", parameters_text(row, view), columns);
  all += text_of_init(row, view, columns);
  all += gain_lines(row, view, columns);
  if (!row.failure.empty()) all += entry("known failure", row.failure, columns);
  if (!row.used_by.empty()) all += entry("used by", row.used_by, columns);
  std::string aliases;
  for (const std::string& alias : row.aliases) aliases += (aliases.empty() ? "" : ", ") + alias;
  return aliases.empty() ? all : all + entry("aliases", aliases, columns);
}

}  // namespace

ArrangementView arrangement_view(const std::string& model, const std::string& norm, std::int64_t layers,
                                 std::optional<std::int64_t> decoder_layers) {
  const std::vector<std::string> models{"lm", "encoder", "seq2seq"};
  const std::size_t depth = depth_given("--layers", layers);
  ArrangementView view{.norm = norm_named(norm)};
  StackShape stack{.width = kWidth, .layers = depth};
  if (model == "encoder") stack.kind = StackKind::encoder_only;
  if (model == "seq2seq") {
    stack.kind = StackKind::encoder;
    stack.other_layers = decoder_layers ? depth_given("--decoder-layers", *decoder_layers) : depth;
    view.stacks.push_back(stack);
    std::swap(stack.layers, stack.other_layers);
    stack.kind = StackKind::decoder;
    stack.sub_layers = {SubLayer::self, SubLayer::cross, SubLayer::ffn};
  }
  if (std::ranges::find(models, model) == models.end()) throw UsageError(unknown_name("model", model, models));
  require(!decoder_layers || model == "seq2seq", "--decoder-layers has no effect except with --model seq2seq. Leave it out");
  view.stacks.push_back(stack);
  return view;
}

std::string no_gain_reason(const Arrangement& row, const ArrangementView& view) {
  const bool unit = norm_kind(view.norm.formula).gives == NormSize::unit_variance;
  return unit ? skip_gain_reason(row) : "the gain is given for norms that give variance 1, and this one does not";
}

StackShape with_layers(StackShape stack, std::size_t layers) {
  stack.layers = layers;
  if (stack.other_layers > 0) stack.other_layers = layers;
  return stack;
}

std::string arrangements_table(const Rows& rows, const ArrangementView& view, const Terminal& terminal) {
  std::vector<std::vector<std::string>> lines{{"NAME", "FORMULA", "FINAL NORM", "SOURCE", "USED BY"}};
  for (const Arrangement* row : rows)
    lines.push_back({row->name, formula_text(*row, view), final_norm_text(*row, view), source_text(*row), row->used_by});
  if (!terminal.unicode)
    for (std::vector<std::string>& cells : lines)
      for (std::string& cell : cells) cell = in_ascii(cell);
  if (terminal.columns == 0 || terminal.columns >= kWideTable) return wide_table(lines, terminal.columns);
  std::string all;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string>& cells = lines[i];
    const std::string end = cells[2] == "–" || cells[2] == "-" ? "no final norm" : concat("final ", cells[2]);
    std::string label = cells[0];
    for (const std::string& line : lines_of_formula(cells[1])) {
      all += entry(label, line, terminal.columns);
      label.clear();
    }
    all += entry("", concat(end, "; ", cells[3]), terminal.columns) + entry("", concat("used by ", cells[4]), terminal.columns);
  }
  return all;
}

std::string inits_table(const ArrangementView& view, const Terminal& terminal) {
  const std::size_t columns = terminal.columns == 0 ? 0 : std::min(terminal.columns, kMostColumns);
  std::string text =
      entry(kInitOfArrangement, "what the source of the arrangement prescribes; gains in its formula always stay", columns);
  for (const InitSpec& rule : init_rules()) {
    text += entry(rule.name, rule.source, columns);
    for (const StackShape& stack : view.stacks)
      for (const InitLine& line : init_lines(Arrangement{.name = "any", .init = rule}, stack))
        text += entry("", concat(stack_prefix(stack, view), line.what, ": ", line.rule), columns);
  }
  return terminal.unicode ? text : in_ascii(text);
}

std::string arrangements_page(const Rows& rows, const ArrangementView& view, const Terminal& terminal) {
  const std::size_t columns = terminal.columns == 0 ? 0 : std::min(terminal.columns, kMostColumns);
  std::string text;
  for (const Arrangement* row : rows) text += about(*row, view, columns) + "\n";
  if (!terminal.unicode) text = in_ascii(text);
  return text + drawn(diagrams_of(rows, view), terminal);
}

std::string arrangements_svg(const Rows& rows, const ArrangementView& view) { return svg_diagram(diagrams_of(rows, view)); }
std::string arrangements_mermaid(const Rows& rows, const ArrangementView& view) {
  return mermaid_diagram(diagrams_of(rows, view));
}

}  // namespace addnorm::cli
