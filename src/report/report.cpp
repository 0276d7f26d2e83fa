// Sources -> records -> one JSON document -> the page.
#include "addnorm/report/report.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "addnorm/core/error.h"
#include "addnorm/core/version.h"
#include "core/file.h"
#include "report/numbers.h"
#include "report/page.h"
#include "report/probes.h"
#include "report/record_file.h"
#include "report/records.h"
#include "report/sources.h"

namespace addnorm {
namespace {

constexpr std::size_t kManyRuns = 200, kPoints = 300, kPointsOfMany = 120;

struct Gathered {
  std::vector<LabRecord> labs;
  std::vector<FoundRecord> runs;
  Json preflights = Json::array(), xrays = Json::array(), claims = Json::array();
  std::vector<std::string> names;
};

std::size_t run_count(const Gathered& all) {
  std::size_t count = all.runs.size();
  for (const LabRecord& lab : all.labs) count += lab.runs.size();
  return count;
}

void take_claims(const FoundRecord& found, Gathered& all, Report& report) {
  Json set = Json::array();
  for (const Json& claim : found.json.array_items()) set.push_back(claim_record(claim, found.where));
  report.claims += set.size();
  all.claims.push_back(Json{{"name", found.name}, {"shipped", false}, {"claims", set}});
}

/// With a number where another record on the page has the same name.
std::string other_name(const std::string& name, const std::vector<std::string>& taken) {
  std::string other = name;
  for (int number = 2; std::ranges::find(taken, other) != taken.end(); ++number) other = concat(name, " (", number, ")");
  return other;
}

void take(FoundRecord found, Gathered& all, Report& report) {
  found.name = other_name(found.name, all.names);
  switch (found.kind) {
    case RecordKind::lab:
      all.labs.push_back(lab_record(found.json, found.name, found.where));
      all.labs.back().folder = found.folder;
      report.lab_runs += all.labs.back().runs.size();
      ++report.labs;
      break;
    case RecordKind::preflight:
      all.preflights.push_back(preflight_record(found.json, found.name, found.where));
      ++report.preflights;
      break;
    case RecordKind::xray:
      all.xrays.push_back(xray_record(found.json, found.name, found.where));
      ++report.xrays;
      break;
    case RecordKind::claims:
      take_claims(found, all, report);
      break;
    case RecordKind::run:
      all.runs.push_back(found);
      ++report.runs;
      break;
  }
  all.names.push_back(found.name);
}

std::vector<ProbeJob> probe_jobs(Gathered& all, std::vector<Json>& trains) {
  std::vector<ProbeJob> jobs;
  for (LabRecord& lab : all.labs)
    for (const ProbePlace& place : probe_places(lab)) jobs.push_back({&lab.runs[place.run], place.file, place.first_seed});
  std::error_code none;
  for (std::size_t i = 0; i < trains.size(); ++i)
    if (const auto file = all.runs[i].folder / "probes.jsonl"; std::filesystem::exists(file, none))
      jobs.push_back({&trains[i], file, true});
  return jobs;
}

/// Of every run that was found, in their order.
std::vector<Json> train_records(const std::vector<FoundRecord>& runs, std::size_t points, Problems& problems) {
  std::vector<Json> trains(runs.size());
  std::vector<Problems> found(runs.size());
  read_at_once(runs.size(),
               [&](std::size_t i) { trains[i] = train_record(runs[i].json, runs[i].name, runs[i].folder, points, found[i]); });
  for (const Problems& some : found) problems.insert(problems.end(), some.begin(), some.end());
  return trains;
}

Json shipped_claims() {
  const Json built_in = parsed(built_in_claims(), "built-in claims");
  Json claims = Json::array();
  for (const Json& claim : built_in.array_items()) claims.push_back(claim_record(claim, "built-in claims"));
  return Json{{"name", "measured for this version"}, {"shipped", true}, {"claims", claims}};
}

std::string title_of(const std::vector<std::string>& names) {
  std::string title = "addnorm: ";
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 3); ++i) title += (i == 0 ? "" : ", ") + names[i];
  return names.size() > 3 ? concat(title, " and ", names.size() - 3, " more") : title;
}

/// The catalogue, and the arrangements of runs that are not in it. Formulas of single runs, which run.json does not have.
Json arrangements_of(const Gathered& all, const ReportRequest& request, std::vector<Json>& trains) {
  Json entries = rounded_copy(parsed(request.arrangements, "the catalogue"));
  if (!request.summarize) return entries;
  std::set<std::string> known;
  for (const Json& one : entries.array_items()) known.insert(text_in(one, "name"));
  const auto ask = [&](const Json& options) {
    ArrangementSummary answer = request.summarize(options.dump());
    if (!answer.json.empty() && known.insert(text_in(options, "arrangement")).second)
      entries.push_back(rounded_copy(parsed(answer.json, "an arrangement")));
    return answer.formula;
  };
  for (const LabRecord& lab : all.labs)
    for (const Json& row : items_in(lab.lab, "rows"))
      if (const Json* options = row.find("options"); options && !known.contains(text_in(row, "arrangement"))) ask(*options);
  for (std::size_t i = 0; i < trains.size(); ++i)
    if (const std::string formula = ask(all.runs[i].json.at("options")); !formula.empty()) trains[i]["formula"] = formula;
  return entries;
}

Json document_of(Gathered& all, const ReportRequest& request, Report& report) {
  const std::size_t points = run_count(all) > kManyRuns ? kPointsOfMany : kPoints;
  for (LabRecord& lab : all.labs) add_lab_curves(lab, points, report.problems);
  std::vector<Json> trains = train_records(all.runs, points, report.problems);
  add_probes(probe_jobs(all, trains), report.problems);
  Json arrangements = arrangements_of(all, request, trains);
  Json labs = Json::array();
  for (const LabRecord& lab : all.labs) labs.push_back(lab.written());
  all.claims.push_back(shipped_claims());
  return Json{{"format", 1},
              {"version", version()},
              {"made", request.made},
              {"labs", std::move(labs)},
              {"trains", Json(trains)},
              {"preflights", all.preflights},
              {"xrays", all.xrays},
              {"claims", all.claims},
              {"arrangements", std::move(arrangements)}};
}

/// Nothing is there, or an older page: a slip of the keyboard must not cost a record.
bool may_be_replaced(const std::filesystem::path& file) {
  constexpr std::string_view kBegin = "<!doctype html>";
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none) || std::filesystem::file_size(file, none) == 0) return true;
  std::string begin(kBegin.size(), '\0');
  std::ifstream(file, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kBegin;
}

}  // namespace

Report make_report(const ReportRequest& request) {
  Report report{.html = {}};
  Gathered all;
  for (const ReportSource& source : request.sources) {
    try {
      for (FoundRecord& found : records_of(source, report.problems)) {
        try {
          take(std::move(found), all, report);
        } catch (const DataError& error) {
          report.problems.push_back(concat(error.what(), "; it is left out"));
        }
      }
    } catch (const DataError& error) {
      report.problems.push_back(error.what());
    }
  }
  if (report.empty()) return report;
  const Json document = document_of(all, request, report);
  report.html = page_of(built_in_page(), title_of(all.names), document.dump());
  return report;
}

void write_report(const Report& report, const std::filesystem::path& file) {
  require(!report.html.empty(), "write_report: there is nothing to write");
  if (!may_be_replaced(file)) throw DataError(concat(file.string(), ": there is something else than a page; name another file"));
  replace_text(file, report.html);
}

}  // namespace addnorm
