// addnorm report: one page from what was recorded.
#include <iostream>

#include "addnorm/core/error.h"
#include "cli/report/page.h"
#include "cli/terminal/command.h"
#include "core/json/json.h"

namespace addnorm::cli {
namespace {

namespace fs = std::filesystem;

struct ReportChoices {
  std::vector<std::string> sources;
  fs::path out;
  bool json = false;
};

/// In the first folder that is named; of a file, beside it.
fs::path default_place(const fs::path& first) {
  std::error_code none;
  if (fs::is_directory(first, none)) return first / "report.html";
  return first.has_parent_path() ? first.parent_path() / "report.html" : fs::path("report.html");
}

std::string counted_parts(const Report& report) {
  std::string all;
  const auto add = [&](std::size_t count, const char* one, const char* many) {
    if (count > 0) all += concat(all.empty() ? "" : ", ", count, " ", count == 1 ? one : many);
  };
  add(report.labs, "lab", "labs");
  if (report.labs > 0) all += concat(" of ", report.lab_runs, report.lab_runs == 1 ? " run" : " runs");
  add(report.runs, "training run", "training runs");
  add(report.preflights, "preflight", "preflights");
  add(report.xrays, "x-ray", "x-rays");
  add(report.claims, "claim", "claims");
  return all;
}

Json summary(const Report& report, const fs::path& file) {
  return Json{{"file", fs::absolute(file).lexically_normal().string()},
              {"bytes", report.html.size()},
              {"labs", report.labs},
              {"lab_runs", report.lab_runs},
              {"runs", report.runs},
              {"preflights", report.preflights},
              {"xrays", report.xrays},
              {"claims", report.claims},
              {"problems", Json(report.problems)}};
}

int run(const ReportChoices& o) {
  require(!o.sources.empty(), "what is the report of? Name folders of runs, e.g. addnorm report runs/lab");
  std::vector<ReportSource> sources;
  for (const std::string& source : o.sources) sources.push_back({.path = source});
  const fs::path file = o.out.empty() ? default_place(sources.front().path) : o.out;
  const Report report = report_of(std::move(sources));
  for (const std::string& problem : report.problems) std::cerr << "addnorm report: " << problem << '\n';
  if (report.empty()) {
    std::cerr << "addnorm report: nothing to show, so nothing was written\n";
    return 1;
  }
  write_report(report, file);
  if (o.json)
    std::cout << summary(report, file).dump() << '\n';
  else
    std::cout << "report of " << counted_parts(report) << " (" << (report.html.size() + 1023) / 1024
              << " KiB): " << file_link(file) << '\n';
  return 0;
}

}  // namespace

void add_report(Program& program) {
  const auto o = std::make_shared<ReportChoices>();
  Command command = program.command("report", "one page of labs, runs, trials and claims, from their folders");
  command.positional(
      "runs", o->sources,
      "folders of lab, train or lab claims, folders with such folders, or files that --json of lab, preflight, xray or "
      "lab claims printed; all on one page");
  command.option("-o,--out FILE", o->out, "the page (default: report.html in the first folder)");
  command.option("--json", o->json, "what was read and written, as JSON on stdout");
  command.section("The page", {{"opens from disk", "one file, no network; lab and train write it by themselves"}});
  command.examples({"addnorm report runs/lab", "addnorm report runs/lab runs/lab-book -o both.html", "addnorm report runs",
                    "addnorm report preflight.json src/claims/results -o page.html"});
  command.run([o] { return run(*o); });
}

}  // namespace addnorm::cli
