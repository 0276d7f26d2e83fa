// probes.jsonl of runs as matrices over records and units, small enough for a page; and those of all its runs, as far as there is
// room for them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "core/json/json.h"
#include "report/record_file.h"
#include "report/records.h"

namespace addnorm {

struct ProbeLimits {
  std::size_t records = 60;
  std::size_t units = 256;
};

struct ProbeMatrices {
  Json stacks = Json::array();
  LineFlaws flaws{};  ///< lines that are left out
};

/// An array with an object per stack: "stack", "units", "step" of the records that are kept, and for each field that was recorded
/// its numbers, packed, record after record: K + 1 by place, K by unit. Of more records than the limit the first, the last and
/// those nearest to evenly spaced positions between them are kept, of more units the same; "of_records" and "of_units" then say
/// how many there were. "full" has three records of the full set in plain numbers. Records of another stack than the first
/// record's (other units) are left out. DataError where the file cannot be read.
ProbeMatrices probe_matrices(const std::filesystem::path& file, const ProbeLimits& limits = {});

/// `count` positions out of 0 ... size - 1, evenly spaced, ends included; all of them where there are no more.
std::vector<std::size_t> evenly_spaced(std::size_t size, std::size_t count);

struct ProbeJob {
  Json* run;  ///< gets "probes"
  std::filesystem::path file;
  bool first_seed;  ///< of its row
};

/// Probes of every run, or where that is too much (6 MB) of the first seed of each row, or of the first rows only. Several files
/// are read at once; the result is the same for any number of threads.
void add_probes(const std::vector<ProbeJob>& jobs, Problems& problems);

}  // namespace addnorm
