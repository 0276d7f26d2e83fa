// What is in the places that a report is asked for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "addnorm/report/report.h"
#include "core/json/json.h"

namespace addnorm {

enum class RecordKind { lab, run, preflight, claims, xray };

/// One thing to show.
struct FoundRecord {
  RecordKind kind;
  std::string name;                ///< last part of its folder or file
  std::string where;               ///< in messages
  Json json;                       ///< of claims: an array of them
  std::filesystem::path folder{};  ///< with the files beside it; empty: there are none
};

/// All records of a source, recognised by their content and not by their names. A folder that is none itself may have some
/// directly below it; then what is damaged there is listed in `problems`, and the others count. DataError where nothing is found.
std::vector<FoundRecord> records_of(const ReportSource& source, std::vector<std::string>& problems);

}  // namespace addnorm
