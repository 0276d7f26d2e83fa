// The report: what labs, runs, trials and claims recorded, as one HTML file that needs nothing else.
//
// It reads files of JSON and never runs a model. The page (web/) is bundled when the library is built; here one JSON document is
// written into it. web/src/data.ts describes that document.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace addnorm {

/// A place where something was recorded: the folder of a lab (lab.json), of a run (run.json) or of claims, a folder with such
/// folders, or one of these files by itself, also what `--json` printed: of a lab, a preflight, an x-ray, claims.
struct ReportSource {
  std::filesystem::path path;
  std::string text{};  ///< instead of a file's; `path` is then only its name
};

/// What the page shows of an arrangement.
struct ArrangementSummary {
  std::string formula{};  ///< "x' = LN(x + F(x))"; "": not known
  std::string json{};     ///< an object as in ReportRequest::arrangements; "": it is one of those
};

struct ReportRequest {
  std::vector<ReportSource> sources;
  std::string arrangements = "[]";  ///< JSON: what the catalogue says of each, as in data.ts
  /// The arrangement of a run's options (JSON); not asked where it is not set.
  std::function<ArrangementSummary(const std::string& options)> summarize{};
  std::string made{};  ///< when, "2026-11-17T12:40:00Z"
};

struct Report {
  std::string html;
  std::size_t labs = 0, lab_runs = 0, runs = 0, preflights = 0, xrays = 0, claims = 0;
  std::vector<std::string> problems{};  ///< what could not be read, or was left out: a line each, with the file

  bool empty() const { return labs + runs + preflights + xrays + claims == 0; }
};

/// The page of all sources. What cannot be read is listed in `problems`, and the rest is shown; if nothing was found there is no
/// html. Curves have 300 points at most (120 where there are more than 200 runs), probes 60 records of 256 units, 6 MB in all.
Report make_report(const ReportRequest& request);

/// In place of an older page, as a whole or not at all. A DataError, where `file` holds something else: it is left as it is.
void write_report(const Report& report, const std::filesystem::path& file);

}  // namespace addnorm
