// Claims that train, all of them for some steps. To the end: claims_nightly_test.cpp.
#include <gtest/gtest.h>

#include "addnorm/claims/claim.h"
#include "addnorm/core/parallel.h"

namespace addnorm {
namespace {

/// Stacks this small are faster on one thread, as the tool runs them.
[[maybe_unused]] const bool kOnOneThread = [] {
  set_threads(1);
  return true;
}();

// Two or three steps decide nothing; they show that what is measured has the names that are judged.
TEST(TrainedClaims, AllRun) {
  for (const Claim& claim : claims()) {
    if (!claim.trains) continue;
    SCOPED_TRACE(claim.id);
    const ClaimResult result = run_claim(claim, {.scale = 0.01, .seeds = 1});
    EXPECT_FALSE(result.verdict_text.empty());
    EXPECT_FALSE(result.values.all().empty());
  }
}

}  // namespace
}  // namespace addnorm
