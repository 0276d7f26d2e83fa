// How often preflight was right, and for which configurations that is known. docs/preflight.md has the tables.
#pragma once

#include <string>

#include "addnorm/lab/preflight.h"

namespace addnorm {

/// (right + 1) / (said + 2), the rule of succession, over the answers that said so where forecasts were held against whole runs:
/// eighty right answers of eighty would not promise that none is ever wrong.
double measured_confidence(Forecast forecast);

/// What sets a run apart from all those, in words that follow "none of them": "was wider than 88"; "": nothing does. `options`
/// are planned and completed.
std::string beyond_measured(const RunOptions& options);

}  // namespace addnorm
