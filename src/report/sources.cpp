#include "report/sources.h"

#include <algorithm>

#include "addnorm/core/error.h"
#include "core/file.h"
#include "core/system/files.h"
#include "report/numbers.h"
#include "report/record_file.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExpected =
    "a folder with lab.json (of 'addnorm lab'), run.json (of 'addnorm train') or results of 'addnorm lab claims', or what --json "
    "printed "
    "of lab, preflight, xray or lab claims";

bool is_claim(const Json& json) { return !text_in(json, "id").empty() && json.contains("claim") && json.contains("verdict"); }

/// What a file of JSON is. `folder` is where it lies.
FoundRecord record_in(const Json& json, const std::string& name, const std::string& where, const fs::path& folder) {
  if (json.contains("rows") && json.contains("runs")) return {RecordKind::lab, name, where, json, folder};
  if (json.contains("options") && json.contains("begun")) return {RecordKind::run, name, where, json, folder};
  if (json.contains("xray") && json.contains("stacks")) return {RecordKind::xray, name, where, json};
  if (json.contains("verdict") && json.contains("reason")) return {RecordKind::preflight, name, where, json};
  if (is_claim(json)) return {RecordKind::claims, name, where, Json::array({json})};
  if (json.is_array() && json.size() > 0 && std::ranges::all_of(json.array_items(), is_claim))
    return {RecordKind::claims, name, where, json};
  throw DataError(concat(where, ": JSON, but no record of ours; expected: ", kExpected));
}

/// Where the runs of a lab are whose JSON was printed elsewhere: it names its folder.
fs::path folder_beside(const Json& json, const fs::path& file) {
  if (file.filename() == "lab.json" || file.filename() == "run.json") return file.has_parent_path() ? file.parent_path() : ".";
  const fs::path named = text_in(json, "folder");
  return json.contains("rows") && is_folder(named) ? named : fs::path();
}

FoundRecord record_of_file(const fs::path& file) {
  const Json json = parsed(record_text(file), file.string());
  const fs::path folder = folder_beside(json, file);
  const bool own_folder = file.filename() == "lab.json" || file.filename() == "run.json";
  FoundRecord found = record_in(json, own_folder ? last_part(folder) : file.stem().string(), file.string(), folder);
  if (found.kind == RecordKind::run && folder.empty())
    throw DataError(concat(file.string(), ": the record of a run, but not called run.json; name the folder of the run"));
  return found;
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  auto entries = system_files::entries(folder);
  if (!entries) throw DataError(concat(folder.string(), ": the folder cannot be read"));
  std::ranges::sort(*entries);
  for (fs::path& entry : *entries) entry = folder / entry.filename();
  return std::move(*entries);
}

/// Files of claims in a folder (S01.json, C12.json, ...), as one record; nothing where there is none.
std::vector<FoundRecord> claims_in(const fs::path& folder, std::vector<std::string>& problems) {
  constexpr std::uintmax_t kLargest = 1 << 20;
  Json claims = Json::array();
  for (const fs::path& file : sorted_entries(folder)) {
    std::error_code none;
    if (file.extension() != ".json" || !is_file(file) || fs::file_size(file, none) > kLargest) continue;
    try {
      const Json json = parsed(record_text(file), file.string());
      if (is_claim(json)) claims.push_back(json);
    } catch (const DataError& error) {
      problems.push_back(concat(error.what(), "; it is left out"));
    }
  }
  if (claims.size() == 0) return {};
  return {{RecordKind::claims, last_part(folder), folder.string(), claims}};
}

/// Those of one folder, without what is below it; nothing where there are none.
std::vector<FoundRecord> records_of_folder(const fs::path& folder, std::vector<std::string>& problems) {
  for (const char* name : {"lab.json", "run.json"})
    if (is_file(folder / name)) return {record_of_file(folder / name)};
  return claims_in(folder, problems);
}

}  // namespace

std::vector<FoundRecord> records_of(const ReportSource& source, std::vector<std::string>& problems) {
  if (!source.text.empty())
    return {record_in(parsed(source.text, source.path.string()), last_part(source.path), source.path.string(), {})};
  std::error_code none;
  if (!fs::exists(source.path, none)) throw DataError(concat(source.path.string(), ": there is no such file or folder"));
  if (!is_folder(source.path)) return {record_of_file(source.path)};
  std::vector<FoundRecord> found = records_of_folder(source.path, problems);
  if (!found.empty()) return found;
  for (const fs::path& entry : sorted_entries(source.path)) {
    if (!is_folder(entry)) continue;
    try {
      for (FoundRecord& one : records_of_folder(entry, problems)) found.push_back(std::move(one));
    } catch (const DataError& error) {
      problems.push_back(concat(error.what(), "; it is left out"));
    }
  }
  if (found.empty()) throw DataError(concat(source.path.string(), ": no run in this folder; expected: ", kExpected));
  return found;
}

}  // namespace addnorm
