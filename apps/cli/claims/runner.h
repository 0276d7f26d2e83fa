// Claims as a person waits for them: two at a time in separate processes, each kept as soon as it is done.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "addnorm/claims/claim.h"
#include "core/json/json.h"

namespace addnorm::cli {

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

}  // namespace addnorm::cli
