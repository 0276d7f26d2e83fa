// What the config of a checkpoint says of its norms, compared with the weights, in words.
#pragma once

#include <string>

#include "addnorm/probe/xray.h"
#include "cli/models/placement_check.h"

namespace addnorm::cli {

/// One note where config and weights agree, or nothing is known; else warnings, which say what their figures are of. `source`:
/// where the tokens come from.
void report_placement(const ModelConfig& config, const Placement& placement, const std::string& source, XrayResult& result);

}  // namespace addnorm::cli
