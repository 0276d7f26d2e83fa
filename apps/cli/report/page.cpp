#include "cli/report/page.h"

#include <cctype>
#include <iostream>

#include "addnorm/model/config.h"
#include "addnorm/residual/explain.h"
#include "addnorm/residual/residual.h"
#include "addnorm/train/run_options.h"
#include "cli/arrangements/views.h"
#include "core/figures.h"
#include "core/file.h"
#include "core/json/json.h"

namespace addnorm::cli {
namespace {

constexpr std::size_t kDepths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
constexpr std::int64_t kShownLayers = 12;  // of the default lab

Json entry_for_page(const Arrangement& row, const ArrangementView& view) {
  Json entry = parsed(arrangements_json({&row}, view, true), "the catalogue").array_items().front();
  entry.erase("skip_gain");  // at four depths; the page has more
  if (!no_gain_reason(row, view).empty()) return entry;
  Json layers = Json::array(), gains = Json::array();
  for (const std::size_t depth : kDepths) {
    layers.push_back(depth);
    gains.push_back(skip_gain(row, with_layers(view.stacks.back(), depth))->gain);
  }
  entry["gain"] = Json{{"layers", layers}, {"gain", gains}};
  return entry;
}

/// Of the options of a run. Those of another version, which are refused, have no formula; the page does without.
ArrangementSummary summary_of(const std::string& options) {
  try {
    const ModelConfig model = run_options_from_json(options, "options").options.model;
    const Arrangement row = with_options(arrangement_of(model), residual_options(model));
    ArrangementSummary summary{.formula = units_text(formula_of(row, first_stack_shape(model), norm_of(model)))};
    if (model.own_arrangement)
      summary.json = entry_for_page(row, arrangement_view("lm", "layernorm", static_cast<std::int64_t>(model.layers))).dump();
    return summary;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::string catalogue_for_page() {
  const ArrangementView view = arrangement_view("lm", "layernorm", kShownLayers);
  Json all = Json::array();
  for (const Arrangement& row : arrangements()) all.push_back(entry_for_page(row, view));
  return all.dump();
}

Report report_of(std::vector<ReportSource> sources) {
  return make_report(
      {.sources = std::move(sources), .arrangements = catalogue_for_page(), .summarize = summary_of, .made = utc_now()});
}

bool write_beside(std::vector<ReportSource> sources, const std::filesystem::path& file) {
  try {
    const Report report = report_of(std::move(sources));
    for (const std::string& problem : report.problems) std::cerr << "report: " << problem << '\n';
    if (report.empty()) return false;
    write_report(report, file);
    return true;
  } catch (const std::exception& error) {  // memory included: the result itself is safe
    std::cerr << "no report: " << error.what() << '\n';
    return false;
  }
}

void require_writable(const std::filesystem::path& file) { const ReplacementFile tried(file); }

std::string file_link(const std::filesystem::path& path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string link = "file://";
  for (const char c : std::filesystem::absolute(path).lexically_normal().string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || std::string_view("/-._~+,=@:").find(c) != std::string_view::npos;
    if (plain)
      link += c;
    else
      link.append("%").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
  }
  return link;
}

}  // namespace addnorm::cli
