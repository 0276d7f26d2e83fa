// Finished claims as people read them: a table in a terminal, a page of the documentation.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/terminal/terminal.h"
#include "core/json/json.h"

namespace addnorm::cli {

/// Id, claim, what was measured, verdict; then how many of each.
std::string claims_table(const std::vector<Json>& results, const Terminal& terminal);
/// "71 claims: 40 true, 21 true only if ..., 10 false".
std::string claims_counted(const std::vector<Json>& results);
/// docs/claims.md; files: the way from the page to the folder of the results.
std::string claims_page(const std::vector<Json>& results, const std::filesystem::path& files);

}  // namespace addnorm::cli
