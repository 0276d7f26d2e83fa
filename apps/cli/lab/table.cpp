// The end of a lab: a table of rows, causes, differences, and what to do next.
#include <algorithm>
#include <cmath>

#include "addnorm/residual/diagram.h"
#include "cli/lab/lab.h"
#include "cli/terminal/figures.h"
#include "cli/train/options.h"
#include "core/figures.h"
#include "core/json/json.h"
#include "lab/grid/spec_json.h"

namespace addnorm::cli {
namespace {

using Cells = std::vector<std::string>;

std::string formula_in(const RowResult& row, const Terminal& terminal) {
  return terminal.unicode ? row.formula : in_ascii(row.formula);
}

std::string plus_minus(const Terminal& terminal) { return terminal.unicode ? " ± " : " +- "; }

std::string loss_cell(const RowResult& row, const Terminal& terminal) {
  if (row.done == 0) return "-";
  if (row.loss.count == 0) return "not finite";
  const std::string mean = figure(row.loss.mean, 3);
  return row.loss.count == 1 ? mean + " (1 seed)" : concat(mean, plus_minus(terminal), figure(row.loss.deviation, 3));
}

std::string agreed_cell(const RowResult& row) {
  const std::optional<bool> agreed = row.agreed();
  return !agreed ? "-" : *agreed ? "yes" : "NO";
}

std::string predicted_cell(const RowResult& row) {
  if (row.prediction) return name_of(row.prediction->forecast);
  return row.instead_of ? "-" : "none";
}

std::string cause_line(const RowResult& row) {
  if (!row.cause) return "";
  const Cause& cause = *row.cause;
  if (cause.kind == CauseKind::slow) return cause.text;
  const std::string by = row.by_is_tried() ? "" : cause.by;  // that line stands below
  if (cause.kind == CauseKind::unknown) return concat("cause unknown: ", cause.text, by.empty() ? "" : "; ", by);
  if (cause.confirmed) return concat("cause: ", cause.text, by.empty() ? "" : ". Confirmed: ", by);
  return concat("suspected: ", cause.text, by.empty() ? "" : "; ", by);
}

/// What was changed alone, and whether that was enough.
std::string tried_line(const RowResult& row) {
  std::string cures, others;
  for (const TriedChange& tried : row.tried) {
    std::string& into = tried.cures() ? cures : others;
    into += concat(into.empty() ? "" : ", ", tried.change, " (", tried.trained, " of ", tried.done, ")");
  }
  return concat(cures.empty() ? "" : "cured by ", cures, cures.empty() || others.empty() ? "" : "; ",
                others.empty() ? "" : "not by ", others);
}

std::vector<std::string> problems_of(const GridResult& result, const RowResult& row) {
  std::vector<std::string> lines;
  for (const std::size_t index : row.runs)
    if (const GridRun& run = result.runs[index]; run.state == RunState::failed)
      lines.push_back(concat("seed ", run.seed, " failed: ", run.problem, " (", (run.folder / "log.txt").string(), ")"));
    else if (run.state == RunState::stopped || run.state == RunState::waiting)
      lines.push_back(concat("seed ", run.seed, ": ", run.state == RunState::stopped ? "stopped" : "not begun"));
  return lines;
}

std::string happened_cell(const RowResult& row) {
  if (row.slow()) return concat("slow (", row.outcome_text(), ")");
  const bool says_all = row.done == 0 || row.too_short == row.done;
  return concat(name_of(row.happened), says_all ? "" : concat(" (", row.outcome_text(), ")"));
}

/// Of rows whose runs were too short, once for all of them; "": there are none.
std::string too_short_line(const GridResult& result) {
  const auto count = static_cast<std::size_t>(std::ranges::count(result.rows, Happened::too_short, &RowResult::happened));
  if (count == 0) return "";
  return concat(counted(count, "row"), " too short to tell: a run that has not trained after fewer than ", kStepsToTell,
                " steps (those of a warm-up count half) may still do so; no cause is looked for, and no prediction is counted");
}

const Cells kTitles{"row", "loss", "above floor", "predicted", "happened", "agreed"};

Cells cells_of(const RowResult& row, const Terminal& terminal) {
  const bool floor = std::isfinite(row.distance);
  return {row.label_in_act,    loss_cell(row, terminal), floor ? figure(row.distance, 3) : "-",
          predicted_cell(row), happened_cell(row),       agreed_cell(row)};
}

/// "the same as above": in place of what another row says already, which starts alike.
std::string same_as_text(const GridResult& result, std::size_t index) {
  const RowResult &row = result.rows[index], &other = result.rows[*row.same_as];
  const std::string& act = other.row.act < result.spec.acts.size() ? result.spec.acts[other.row.act].name : row.label_in_act;
  if (other.row.act != row.row.act && !act.empty() && !other.instead_of) return concat("the same as in ", act);
  if (other.label_in_act != row.label_in_act) return "the same as " + other.label_in_act;
  return *row.same_as < index ? "the same as above" : "the same as below";
}

std::string laid_out(const Cells& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += i + 1 < cells.size() ? padded(cells[i], widths[i]) + "  " : cells[i];
  return line;
}

std::string indented(const std::string& text, std::size_t indent, std::size_t columns) {
  std::string all;
  for (const std::string& line : wrapped(text, columns > indent + 20 ? columns - indent : 0))
    all += std::string(indent, ' ') + line + "\n";
  return all;
}

/// One row below the other, for narrow terminals.
std::string stacked(const Cells& cells, std::size_t columns) {
  std::string all = cells[0] + "\n";
  for (std::size_t i = 1; i < cells.size(); ++i) all += indented(concat(kTitles[i], ": ", cells[i]), 4, columns);
  return all;
}

std::string painted(const std::string& text, const char* colour, const Terminal& terminal) {
  return terminal.colour ? concat("\x1b[", colour, "m", text, "\x1b[0m") : text;
}

const char* colour_of(const RowResult& row) {
  if (row.happened == Happened::unknown || row.happened == Happened::too_short) return "2";
  return row.happened == Happened::trains ? "32" : row.slow() ? "33" : "31";
}

/// What has to be said so that a row of the lab, which has its usual value everywhere else, is this one.
Json to_be_said(const RowResult& row, const char* not_said) {
  const Json options = parsed(row.row.options, row.row.place);
  Json said = Json::object();
  for (bool more = true; more;) {  // what is said changes what is usual: the heads, where there is a width
    more = false;
    const Json usual = lab_options_of(said, row.row.place);
    for (const auto& [name, value] : options.items()) {
      const Json* is = usual.find(name);
      if (name == not_said || name == "save_every" || said.contains(name) || (is != nullptr && *is == value)) continue;
      said[name] = value;
      more = true;
    }
  }
  return said;
}

/// As options of a command line, one of them left to the caller.
std::string as_options(const RowResult& row, const char* not_said) {
  const Json said = to_be_said(row, not_said);
  const std::vector<OptionText> known = option_texts();
  std::string text;
  for (const auto& [name, value] : said.items()) {
    const auto option = std::ranges::find(known, name, &OptionText::name);
    if (option == known.end() || (value == Json(false) && option->value == OptionText::Value::flag)) continue;
    if (value.is_boolean())
      text += concat(" ", option_name(value.boolean() ? name : "no_" + name));
    else if (value.is_array())
      for (const Json& item : value.array_items()) text += concat(" ", option_name(name), " ", for_shell(item.text()));
    else
      text += concat(" ", option_name(name), " ", for_shell(value.is_string() ? value.text() : value.dump()));
  }
  return text;
}

}  // namespace

/// Of the model as it starts; where that was not measured, by the closed form, which has branches as strong as what they read.
std::string skip_gain_of(const RowResult& row) {
  if (!row.skip_gain_predicted) return "no skip";
  if (row.prediction && row.prediction->skip_gain_measured)
    return concat("skip gain ", short_figure(*row.prediction->skip_gain_measured), " measured");
  return concat("skip gain ", short_figure(*row.skip_gain_predicted), " (closed form)");
}

std::string prediction_table(const GridResult& result, const Terminal& terminal) {
  std::string text;
  std::size_t label = 0, formula = 0, gains = 0;
  for (const RowResult& row : result.rows) {
    label = std::max(label, columns_of(row.label_in_act));
    if (row.same_as) continue;
    formula = std::max(formula, columns_of(formula_in(row, terminal)));
    gains = std::max(gains, columns_of(skip_gain_of(row)));
  }
  const bool wide = terminal.columns == 0 || label + formula + gains + 32 < terminal.columns;
  std::optional<std::size_t> act;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const RowResult& row = result.rows[i];
    if (row.row.act != act && row.row.act < result.spec.acts.size()) {
      act = row.row.act;
      const GridAct& part = result.spec.acts[*act];
      if (!part.name.empty()) text += concat(part.name, part.note.empty() ? "" : concat(" (", part.note, ")"), "\n");
    }
    if (row.same_as) {
      text += wide ? concat("  ", padded(row.label_in_act, label), "  ", same_as_text(result, i), "\n")
                   : concat("  ", row.label_in_act, ": ", same_as_text(result, i), "\n");
      continue;
    }
    const std::string gain = skip_gain_of(row);
    const std::string verdict = row.prediction ? name_of(row.prediction->forecast) : concat("no prediction: ", row.no_prediction);
    const std::string reason = row.prediction ? row.prediction->reason : "";
    if (wide) {
      text += concat("  ", padded(row.label_in_act, label), "  ", padded(formula_in(row, terminal), formula), "  ",
                     padded(gain, gains), "  ", verdict, "\n");
      if (!reason.empty() && row.prediction->forecast != Forecast::trains) text += indented(reason, label + 4, terminal.columns);
    } else {
      text += concat("  ", row.label_in_act, ": ", verdict, "\n") +
              indented(concat(formula_in(row, terminal), "; ", gain), 4, terminal.columns);
      if (!reason.empty()) text += indented(reason, 4, terminal.columns);
    }
  }
  return terminal.unicode ? text : in_ascii(text);
}

std::string lab_table(const GridResult& result, const Terminal& terminal) {
  std::vector<std::size_t> widths;
  for (const std::string& title : kTitles) widths.push_back(columns_of(title));
  for (const RowResult& row : result.rows) {
    const Cells cells = cells_of(row, terminal);
    for (std::size_t i = 0; i < (row.same_as ? 1 : cells.size()); ++i) widths[i] = std::max(widths[i], columns_of(cells[i]));
  }
  std::size_t width = 2 * widths.size();
  for (const std::size_t one : widths) width += one;
  const bool narrow = terminal.columns > 0 && width > terminal.columns;

  std::string text;
  if (!narrow) text += laid_out(kTitles, widths) + "\n";
  std::optional<std::size_t> act;
  bool added = false;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const RowResult& row = result.rows[i];
    if (row.instead_of && !added) text += "Copies of rows that failed, with one thing changed\n";
    if (!row.instead_of && row.row.act != act && row.row.act < result.spec.acts.size()) {
      const GridAct& part = result.spec.acts[row.row.act];
      if (!part.name.empty()) text += concat(part.name, part.note.empty() ? "" : concat(" (", part.note, ")"), "\n");
    }
    act = row.row.act;
    added = added || row.instead_of.has_value();
    if (row.same_as) {
      text += narrow ? row.label_in_act + "\n" + indented(same_as_text(result, i), 4, terminal.columns)
                     : concat(padded(row.label_in_act, widths[0]), "  ", same_as_text(result, i), "\n");
      continue;
    }
    const Cells cells = cells_of(row, terminal);
    text += narrow ? stacked(cells, terminal.columns) : painted(laid_out(cells, widths), colour_of(row), terminal) + "\n";
    if (const std::string why = cause_line(row); !why.empty()) text += indented(why, 4, terminal.columns);
    if (const std::string tried = tried_line(row); !tried.empty()) text += indented(tried, 4, terminal.columns);
    for (const std::string& problem : problems_of(result, row)) text += indented(problem, 4, terminal.columns);
  }
  if (const std::string why = too_short_line(result); !why.empty()) text += "\n" + indented(why, 0, terminal.columns);
  const std::vector<std::string> found = findings(result);
  if (!found.empty()) text += "\nWhat this shows:\n";
  for (const std::string& line : found) text += indented(line, 2, terminal.columns);
  const Comparisons compared = comparisons(result);
  if (!compared.lines.empty()) text += "\n";
  if (compared.compares)
    text += indented(
        "Of the rows with 3 seeds or more, the best loss against the others (Welch's test over seeds, p by Holm for all "
        "pairs):",
        0, terminal.columns);
  for (const std::string& line : compared.lines) text += indented(line, compared.compares ? 2 : 0, terminal.columns);
  return terminal.unicode ? text : in_ascii(text);
}

std::string confusion_table(const GridResult& result) {
  const Confusion c = confusion_of(result);
  if (c.rows() < 10) return "";
  static constexpr std::array kClasses{"trains", "needs warm-up", "will not train"};
  std::string text = concat("\nPredicted (down) against happened (across), ", counted(c.rows(), "row"), ":\n", padded("", 16));
  for (const char* name : kClasses) text += padded(name, 16);
  text += "\n";
  std::size_t three = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    text += padded(kClasses[i], 16);
    for (std::size_t k = 0; k < 3; ++k) {
      text += padded(std::to_string(c.counts[i][k]), 16);
      three += c.counts[i][k];
    }
    text += "\n";
  }
  const std::size_t untried = c.rows() - three;
  if (untried > 0) text += concat(counted(untried, "row"), " did not train and more warm-up was not tried: not in the table\n");
  if (three > 0) text += concat("balanced accuracy ", fixed(c.balanced_accuracy(), 3), "; ");
  return text + concat("trains or not: ", fixed(c.two_way_accuracy(), 3), ", missed failures ", c.two_way[0][1], " of ",
                       c.two_way[0][1] + c.two_way[1][1], "\n");
}

namespace {

/// The best of those that have as many seeds as any; the misprint only where it is decided that nothing else is as good. Null:
/// none trained.
const RowResult* worth_more_steps(const GridResult& result) {
  std::vector<const RowResult*> rows;
  std::size_t seeds = 0;
  for (const RowResult& row : result.rows)
    if (row.happened == Happened::trains) {
      rows.push_back(&row);
      seeds = std::max(seeds, row.loss.count);
    }
  std::erase_if(rows, [&](const RowResult* row) { return row->loss.count < seeds; });
  if (rows.empty()) return nullptr;
  std::ranges::stable_sort(rows, {}, [](const RowResult* row) { return row->loss.mean; });
  const auto as_good = [&](const RowResult* row) {
    return row->arrangement != "norm-skip" && !difference_of(row->loss, rows.front()->loss).clear();
  };
  const auto found = std::ranges::find_if(rows, as_good);
  return found == rows.end() ? rows.front() : *found;
}

}  // namespace

std::vector<std::string> next_commands(const GridResult& result) {
  const RowResult *best = worth_more_steps(result), *failed = nullptr, *slow = nullptr, *too_short = nullptr;
  for (const RowResult& row : result.rows) {
    if (row.happened == Happened::too_short) {
      if (!too_short) too_short = &row;
      continue;
    }
    if (row.happened != Happened::trains && row.done > 0 && row.arrangement != "plain" && !row.slow() && !failed) failed = &row;
    if (row.slow()) slow = &row;
  }
  std::vector<std::string> next;
  if (too_short)
    next.push_back(concat("addnorm lab --grid ", for_shell((result.folder / "lab-grid.json").string()), " --out ",
                          for_shell(result.folder.string()), " --steps 300"));
  if (failed && !failed->runs.empty())
    next.push_back(concat("addnorm preflight ", for_shell((result.runs[failed->runs[0]].folder / "options.json").string())));
  if (failed) next.push_back(concat("addnorm depth", as_options(*failed, "layers")));
  if (best && !best->runs.empty())
    next.push_back(concat("addnorm train --config ", for_shell((result.runs[best->runs[0]].folder / "run.json").string()),
                          " --steps 3000 --out runs/", best->arrangement));
  if (slow && !slow->runs.empty())
    next.push_back(concat("addnorm lab", as_options(*slow, "steps"), " --steps ", 3 * result.runs[slow->runs[0]].steps));
  if (comparisons(result).noise) {
    std::size_t seeds = 0;
    for (const GridRow& row : result.spec.rows) seeds = std::max(seeds, row.seeds);
    next.push_back(concat("addnorm lab --grid ", for_shell((result.folder / "lab-grid.json").string()), " --out ",
                          for_shell(result.folder.string()), " --seeds ", std::max<std::size_t>(5, 2 * seeds)));
  }
  if (best) next.push_back(concat("addnorm depth", as_options(*best, "layers")));
  next.push_back("addnorm arrangements");
  next.push_back("addnorm lab --arrangements post-ln,pre-ln --layers 6,24 --warmup-steps 0,200");
  next.push_back("addnorm lab --lr 3e-4,1e-3,3e-3");
  next.resize(3);
  return next;
}

}  // namespace addnorm::cli
