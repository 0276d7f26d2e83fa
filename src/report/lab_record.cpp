// lab.json, and what the folders of its runs have besides.
#include <set>

#include "addnorm/core/error.h"
#include "report/curve.h"
#include "report/numbers.h"
#include "report/record_file.h"
#include "report/record_shapes.h"
#include "report/records.h"

namespace addnorm {
namespace {

/// A run's folder below that of its lab; "" where lab.json names none, or one that leads elsewhere.
std::filesystem::path folder_of(const Json& run, const std::filesystem::path& lab) {
  const std::filesystem::path named = text_in(run, "folder");
  if (named.empty() || named.is_absolute()) return {};
  for (const std::filesystem::path& part : named)
    if (part == "..") return {};
  return lab / named;
}

Json row_record(const Json& row, const std::string& where) {
  if (!row.is_object() || text_in(row, "label").empty())
    throw DataError(concat(where, ": a row without a label; this is not the record of a lab"));
  Json out = shaped(row, kLabRow);
  for (const char* name : {"options", "asked"})
    if (const Json* found = row.find(name)) out[name] = options_record(*found);
  return out;
}

Json run_record(const Json& run) {
  Json out = shaped(run, kLabRun);
  if (const Json* curve = run.find("curve")) out["curve"] = *curve;  // add_lab_curves looks at it
  return out;
}

bool has_begun(const Json& run) { return text_in(run, "state") != "waiting" && whole_in(run, "steps_done").value_or(1) > 0; }

/// Problems of one run to report; "": there are none.
struct RunNotes {
  std::string missing{}, outside{}, flaws{};
};

RunNotes add_curves(Json& run, const std::filesystem::path& lab, std::size_t points) {
  if (const Json* curve = run.find("curve")) run["curve"] = shorter_curve(*curve, points);
  const std::string named = text_in(run, "folder");
  if (lab.empty() || !has_begun(run) || named.empty()) return {};
  const std::filesystem::path place = folder_of(run, lab);
  if (place.empty()) return {.outside = concat(lab.string(), ": folder '", named, "' of a run is not below it")};
  try {
    const std::filesystem::path file = place / "metrics.jsonl";
    const Metrics metrics = read_metrics(file);
    const std::vector<std::uint64_t> ends = run.contains("curve") ? ends_of(run.at("curve")) : std::vector<std::uint64_t>{};
    put_curves(metrics, ends.empty() ? block_ends(metrics, points) : ends, ends.empty(), run);
    return {.flaws = metrics.flaws.any() ? concat(file.string(), ": ", metrics.flaws.text()) : ""};
  } catch (const DataError& error) {
    return {.missing = error.what()};
  }
}

}  // namespace

LabRecord lab_record(const Json& lab, const std::string& name, const std::string& where) {
  const Json *rows = lab.find("rows"), *runs = lab.find("runs");
  if (rows == nullptr || runs == nullptr || !rows->is_array() || !runs->is_array())
    throw DataError(concat(where, ": no rows and runs in it; this is not the record of a lab"));
  LabRecord out{.lab = shaped(lab, kLab), .runs = {}};
  out.lab["name"] = name;
  Json shown = Json::array();
  for (const Json& row : rows->array_items()) {
    for (const Json& number : items_in(row, "runs"))
      if (!number.is_unsigned() || number.whole() >= runs->size())
        throw DataError(
            concat(where, ": row '", text_in(row, "label"), "' has run ", number.dump(), ", and there are ", runs->size()));
    shown.push_back(row_record(row, where));
  }
  out.lab["rows"] = std::move(shown);
  for (const Json& run : runs->array_items()) out.runs.push_back(run_record(run));
  return out;
}

Json LabRecord::written() const {
  Json all = lab;
  all["runs"] = Json(runs);
  return all;
}

void add_lab_curves(LabRecord& lab, std::size_t points, Problems& problems) {
  std::vector<RunNotes> notes(lab.runs.size());
  read_at_once(notes.size(), [&](std::size_t i) { notes[i] = add_curves(lab.runs[i], lab.folder, points); });
  CountedProblem missing, outside, flaws;
  for (const RunNotes& one : notes) {
    missing.add(one.missing);
    outside.add(one.outside);
    flaws.add(one.flaws);
  }
  missing.report("such runs are shown without curves of gradient and rate", problems);
  outside.report("it is not read", problems);
  flaws.report("the other lines are shown", problems);
}

std::vector<ProbePlace> probe_places(const LabRecord& lab) {
  std::set<std::uint64_t> first;
  for (const Json& row : items_in(lab.lab, "rows"))
    if (const Json::Array& numbers = items_in(row, "runs"); !numbers.empty()) first.insert(numbers.front().whole());
  std::vector<ProbePlace> places;
  for (std::size_t i = 0; i < lab.runs.size() && !lab.folder.empty(); ++i) {
    const std::filesystem::path place = folder_of(lab.runs[i], lab.folder);
    std::error_code none;
    if (!place.empty() && std::filesystem::exists(place / "probes.jsonl", none))
      places.push_back({i, place / "probes.jsonl", first.contains(i)});
  }
  return places;
}

}  // namespace addnorm
