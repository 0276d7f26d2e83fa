// An x-ray as a person reads it in a terminal.
#pragma once

#include <string>

#include "addnorm/probe/xray.h"
#include "cli/terminal/terminal.h"

namespace addnorm::cli {

/// The model, a table of every stack, layers and norms, what is missing, and the findings as a paragraph. Columns that do not fit
/// the terminal are left out, the least important first.
std::string xray_view(const XrayResult& result, const Terminal& terminal);

}  // namespace addnorm::cli
