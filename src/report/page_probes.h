// The probes of all runs of a page, as far as there is room for them.
#pragma once

#include "report/records.h"

namespace addnorm {

struct ProbeJob {
  Json* run;  ///< gets "probes"
  std::filesystem::path file;
  bool first_seed;  ///< of its row
};

/// Probes of every run, or where that is too much (6 MB) of the first seed of each row, or of the first rows only. Several files
/// are read at once; the result is the same for any number of threads.
void add_probes(const std::vector<ProbeJob>& jobs, Problems& problems);

}  // namespace addnorm
