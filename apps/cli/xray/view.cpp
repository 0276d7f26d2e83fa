#include "cli/xray/view.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "addnorm/core/error.h"
#include "cli/terminal/figures.h"
#include "cli/terminal/plot.h"
#include "core/figures.h"
#include "core/json/json.h"
#include "core/printable.h"

namespace addnorm::cli {

TokenNames::TokenNames(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {
  const Json json = parsed(tokenizer.to_json(), "tokenizer.json");
  const Json* const added = json.find("added_tokens");
  if (added != nullptr && added->is_array())
    for (const Json& token : added->array_items())
      pieces_[static_cast<std::int32_t>(token["id"].whole())] = token["content"].text();
  const Json* const model = json.find("model");
  const Json* const vocab = model != nullptr ? model->find("vocab") : nullptr;
  if (vocab != nullptr && vocab->is_object())
    for (const auto& [piece, id] : vocab->items())
      if (id.is_integer()) pieces_.emplace(static_cast<std::int32_t>(id.integer()), piece);
}

std::string TokenNames::operator()(std::int32_t token) const {
  const std::string text = tokenizer_.decode(std::span(&token, 1));
  if (!text.empty()) return "\"" + printable(text) + "\"";
  const auto found = pieces_.find(token);
  return found != pieces_.end() ? printable(found->second) : concat("token ", token);
}

namespace {

/// What the figures of trials are: no losses of this x-ray.
std::string figures_text(const ModelConfig& config, const Placement& placement, const std::string& source) {
  const bool by_token = config.model == ModelKind::lm || (config.model == ModelKind::encoder && config.head);
  const std::string guess = by_token ? ", " + fixed(std::log(static_cast<double>(config.vocab)), 2) + " nats" : "";
  return concat(" (on ", counted(placement.tokens, "token"), " of ", source, ", where nothing counts for more than a guess costs",
                guess, ")");
}

}  // namespace

void report_placement(const ModelConfig& config, const Placement& placement, const std::string& source, XrayResult& result) {
  const PlacementFinding& found = placement.found;
  for (std::string warning : found.warnings) {
    if (!found.measure.empty() && warning.find(found.measure) != std::string::npos)
      warning += figures_text(config, placement, source);
    result.warnings.push_back(std::move(warning));
  }
  const std::string says = "the config says " + found.configured;
  if (found.behaves_as.empty())
    result.notes.push_back(says + "; what the weights say cannot be determined");
  else if (found.agrees && found.ground == PlacementFinding::Ground::norms)
    result.notes.push_back(says + " and the weights have its norms; they show nothing more");
  else if (found.agrees)
    result.notes.push_back(says + " and the weights agree");
}

namespace {

constexpr std::size_t kParagraph = 100;  // columns of running text at most

/// Three digits that matter; nothing where nothing was measured.
std::string digits(double value) {
  if (!std::isfinite(value)) return "";
  return std::abs(value) >= 1000 && std::abs(value) < 1e6 ? fixed(value, 0) : significant(value, 3);
}

std::string signed_digits(double value) { return std::isfinite(value) ? (value < 0 ? "" : "+") + fixed(value, 4) : ""; }

/// Of values by unit, with an empty cell for the stack's input before them.
std::vector<std::string> by_unit(const std::vector<double>& values, std::string (*text)(double)) {
  std::vector<std::string> cells{""};
  for (const double v : values) cells.push_back(text(v));
  return cells;
}

std::vector<std::string> by_place(const std::vector<double>& values, std::string (*text)(double)) {
  std::vector<std::string> cells;
  for (const double v : values) cells.push_back(text(v));
  return cells;
}

/// Shares of the largest, for bars; what is below 0 has none.
std::vector<double> shares_of(const std::vector<double>& values, bool by_unit_only) {
  double most = 0;
  for (const double v : values) most = std::isfinite(v) ? std::max(most, v) : most;
  std::vector<double> shares;
  if (by_unit_only) shares.push_back(0);
  for (const double v : values) shares.push_back(most > 0 ? v / most : 0);
  return shares;
}

std::vector<double> peaks_of(const StackXray& s) {
  std::vector<double> peaks;
  for (const StreamPeak& peak : s.peaks) peaks.push_back(peak.over_median);
  return peaks;
}

/// Without that of biases, which have no place in the stack.
std::vector<double> attribution_in(const StackXray& s) {
  std::vector<double> attribution = s.attribution;
  if (!attribution.empty()) attribution.pop_back();
  return attribution;
}

std::string unit_table(const XrayResult& r, const StackXray& s, const Terminal& terminal) {
  const bool by_loss = r.measure != XrayMeasure::embedding;
  std::vector<BarColumn> columns;
  const auto add = [&](BarColumn column) {
    if (column.cells.size() == s.units.size() + 1) columns.push_back(std::move(column));
  };
  std::vector<std::string> names{"input"};
  names.insert(names.end(), s.units.begin(), s.units.end());
  add({.upper = "", .lower = "unit", .cells = names, .text = true});
  add({.upper = "stream", .lower = "RMS", .cells = by_place(s.stream_rms, digits)});
  add({.upper = "largest", .lower = "/median", .cells = by_place(peaks_of(s), digits), .rank = 8});
  add({.upper = "branch", .lower = "share", .cells = by_unit(s.branch_share, digits), .rank = 5});
  add({.upper = "|f|", .lower = "/|x|", .cells = by_unit(s.update_ratio, digits), .rank = 7});
  add({.upper = "", .lower = "cosine", .cells = by_unit(s.cosine, digits), .rank = 6});
  add({.upper = "attention", .lower = "entropy", .cells = by_unit(s.attention_entropy, digits), .rank = 4});
  add({.upper = "by-passed:",
       .lower = by_loss ? "change of loss" : "distance",
       .cells = by_unit(s.bypass_change, signed_digits),
       .bars = shares_of(s.bypass_change, true),
       .rank = 1});
  add({.upper = "ended here:",
       .lower = by_loss ? "loss" : "distance",
       .cells = by_place(s.lens, digits),
       .bars = shares_of(s.lens, false),
       .rank = 2});
  add({.upper = "to the", .lower = by_loss ? "logit" : "vector", .cells = by_place(attribution_in(s), digits), .rank = 3});
  return bar_table(std::move(columns), terminal);
}

std::string influence_line(const StackXray& s, const Terminal& terminal) {
  if (s.block_influence.empty()) return "";
  const double most = std::max(1e-12, *std::ranges::max_element(s.block_influence));
  std::string plot;
  for (const double v : s.block_influence) plot += block(v / most, terminal.unicode);
  const auto least = std::ranges::min_element(s.block_influence);
  const std::string text =
      concat("block influence by layer  ", plot, "  ", digits(s.block_influence.front()), " ... ",
             digits(s.block_influence.back()), ", least ", digits(*least), " (layers.", least - s.block_influence.begin(), ")");
  std::string lines;
  for (const std::string& line : wrapped(text, terminal.columns)) lines += line + "\n";
  return lines;
}

/// A line for each kind of place that norms stand at.
std::string norm_table(const XrayResult& r, const std::string& stack, const Terminal& terminal) {
  std::vector<std::string> slots;
  for (const NormGains& norm : r.norms)
    if (norm.stack == stack && std::ranges::find(slots, norm.slot) == slots.end()) slots.push_back(norm.slot);
  if (slots.empty()) return "";
  BarColumn name{"", "norms", {}, {}, 0, true}, count{"", "how many", {}, {}, 2}, first{"gain RMS", "first", {}},
      last{"", "last", {}}, least{"smallest", "gain", {}}, most{"largest", "gain", {}}, where{"", "in", {}, {}, 1, true};
  for (const std::string& slot : slots) {
    std::vector<const NormGains*> all;
    for (const NormGains& norm : r.norms)
      if (norm.stack == stack && norm.slot == slot) all.push_back(&norm);
    const auto lowest = std::ranges::min_element(all, {}, &NormGains::least),
               highest = std::ranges::max_element(all, {}, &NormGains::most);
    name.cells.push_back(slot);
    count.cells.push_back(std::to_string(all.size()));
    first.cells.push_back(digits(all.front()->rms));
    last.cells.push_back(digits(all.back()->rms));
    least.cells.push_back(digits((*lowest)->least));
    most.cells.push_back(digits((*highest)->most));
    where.cells.push_back((*highest)->name);
  }
  return bar_table({name, count, first, last, least, most, where}, terminal);
}

std::string sentence_of(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text.ends_with('.') ? text : text + ".";
}

std::string header(const XrayResult& r) {
  const ModelConfig& m = r.config;
  std::string text = concat(r.model, ": ", name_of(m.model), ", ", m.arrangement, ", ", m.layers, " layers, d_model ", m.d_model,
                            ", ", short_count(static_cast<double>(r.parameters)), " parameters\n");
  if (!r.formula.empty()) text += "  " + r.formula + "\n";
  text += concat("reads ", r.text, ": ", counted(r.sequences, "sequence"),
                 r.tokens > 0 ? concat(", ", counted(r.tokens, "token")) : "");
  const char* const per = m.model == ModelKind::classifier || m.model == ModelKind::mlp ? "sample" : "token";
  if (r.measure == XrayMeasure::embedding) return text + "; costs are cosine distances of the pooled embedding\n";
  const char* const what = r.measure == XrayMeasure::masked_loss ? "masked token" : per;
  return text + concat("; loss ", fixed(r.loss, 4), " nats per ", what, "\n");
}

}  // namespace

std::string xray_view(const XrayResult& r, const Terminal& terminal) {
  std::string text;
  const auto add_wrapped = [&](const std::string& paragraph, std::size_t most) {
    const std::size_t room = terminal.columns == 0 ? 0 : std::min(terminal.columns, most);
    for (const std::string& line : wrapped(paragraph, room)) text += line + "\n";
  };
  std::string head = header(r);
  for (std::size_t from = 0; from < head.size();) {
    const std::size_t end = head.find('\n', from);
    add_wrapped(head.substr(from, end - from), terminal.columns);
    from = end + 1;
  }
  for (const StackXray& stack : r.stacks) {
    text += r.stacks.size() > 1 ? "\n" + stack.name + "\n" : "\n";
    text += unit_table(r, stack, terminal);
    if (!stack.attribution.empty())
      add_wrapped(concat("to the ", r.measure == XrayMeasure::embedding ? "vector" : "logit", " (--ln ", name_of(r.ln),
                         "): biases ", digits(stack.attribution.back()), ", all together ", digits(r.attributed)),
                  terminal.columns);
    text += "\n" + influence_line(stack, terminal);
    text += "\n" + norm_table(r, stack.name, terminal);
  }
  for (const auto& [what, why] : r.missing) add_wrapped(concat("not measured: ", what, "; ", why), kParagraph);
  std::string paragraph;
  for (const std::string& finding : findings_of(r)) paragraph += (paragraph.empty() ? "" : " ") + sentence_of(finding);
  text += "\n";
  add_wrapped(paragraph, kParagraph);
  return text;
}

}  // namespace addnorm::cli
