// addnorm lab claims: parts that its files share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "addnorm/claims/claim.h"
#include "cli/terminal/command.h"
#include "cli/terminal/terminal.h"
#include "core/json/json.h"

namespace addnorm::cli {

/// Describes itself to the command it stands in.
void add_lab_claims(Command& lab);

struct ClaimsPlan {
  std::filesystem::path out = "runs/claims";
  double scale = 1;
  std::int64_t seeds = 0;  ///< 0: each claim's own number
  std::string init{};      ///< one rule of initialisation in place of kClaimInits
  bool again = false;      ///< also what is kept already
};

/// The JSON object of a finished claim, with its date. One that could not be finished has the verdict "failed".
struct FinishedClaim {
  Json result;
  bool kept = false;  ///< from an earlier call
  bool failed() const { return result["verdict"].text() == "failed"; }
};

/// In this process. Where it was done before by this very program with the same options, what was kept.
FinishedClaim finished_claim(const Claim& claim, const ClaimsPlan& plan, const std::function<bool()>& go_on);

/// Each claim in its own process, `at_once` of them at a time with one thread each (the last one alone has all): one that
/// crashes does not end the others. `report` is called with each when it is done. What is done when go_on says no is returned, in
/// the order of `wanted`.
std::vector<FinishedClaim> finished_claims(const std::vector<const Claim*>& wanted, const ClaimsPlan& plan, std::size_t at_once,
                                           const std::function<void(const FinishedClaim&)>& report,
                                           const std::function<bool()>& go_on);

/// Finished claims in a terminal: id, claim, what was measured, verdict; then how many of each.
std::string claims_table(const std::vector<Json>& results, const Terminal& terminal);
/// "71 claims: 40 true, 21 true only if ..., 10 false".
std::string claims_counted(const std::vector<Json>& results);
/// docs/claims.md; files: the way from the page to the folder of the results.
std::string claims_page(const std::vector<Json>& results, const std::filesystem::path& files);

}  // namespace addnorm::cli
