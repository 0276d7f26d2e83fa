// One function per kind of record: JSON of a file or folder -> JSON of the page, as web/src/data.ts and results.ts have it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace addnorm {

/// Lines for people about what was left out.
using Problems = std::vector<std::string>;

/// How many there are of a kind, and the first of them: a thousand runs do not make a thousand lines.
class CountedProblem {
 public:
  void add(const std::string& what);  ///< "": nothing
  void report(const std::string& consequence, Problems& problems) const;

 private:
  std::size_t count_ = 0;
  std::string first_;
};

/// A lab on its way to the page: its runs are filled one by one.
struct LabRecord {
  Json lab;                        ///< all but its runs
  std::vector<Json> runs;          ///< as lab.json has them, then with curves and probes
  std::filesystem::path folder{};  ///< below which the folders of runs are; empty: not known

  Json written() const;
};
/// Of lab.json. DataError where it is something else.
LabRecord lab_record(const Json& lab, const std::string& name, const std::string& where);
/// Curves of at most `points` points, those of gradient and rate from the metrics.jsonl of the runs.
void add_lab_curves(LabRecord& lab, std::size_t points, Problems& problems);

/// Probes of a run of a lab that are there to be read.
struct ProbePlace {
  std::size_t run;  ///< in LabRecord::runs
  std::filesystem::path file;
  bool first_seed;  ///< of its row
};
std::vector<ProbePlace> probe_places(const LabRecord& lab);

/// Of a folder with run.json and metrics.jsonl, without its probes.
Json train_record(const Json& run, const std::string& name, const std::filesystem::path& folder, std::size_t points,
                  Problems& problems);

/// Of what `preflight --json` prints. DataError where it is something else.
Json preflight_record(const Json& result, const std::string& name, const std::string& where);

/// Of what `xray --json` prints. DataError where it is something else.
Json xray_record(const Json& result, const std::string& name, const std::string& where);

/// Of one claim (src/claims/results/S01.json). DataError where it is something else.
Json claim_record(const Json& claim, const std::string& where);

/// Options of a run with numbers rounded; absolute paths, which name folders of this machine, are cut to their last part.
Json options_record(const Json& options);

}  // namespace addnorm
