// Claims that train, a handful of them to the end.
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

void expect(const char* id, const std::string& verdict) {
  const ClaimResult result = run_claim(claim_named(id), {.seeds = 3});
  EXPECT_TRUE(result.verdict_text.starts_with(verdict)) << id << ": " << result.verdict_text << ": " << result.verdict.measured;
}

TEST(TrainedClaims, ComeOutAsTheyAreKnownTo) {
  expect("S14", "true");
  expect("S15", "true with Xavier's weights; with GPT-2's it is not decided");
  expect("S23", "true with Xavier's weights if PreLN is x + F(LN(x))");
  expect("S43", "true with Xavier's weights; with GPT-2's it is not decided");
  expect("S45", "true with Xavier's weights; with GPT-2's it is not decided");
  expect("S47", "false with Xavier's weights");
  expect("S58", "true only if");
  expect("S59", "true with Xavier's weights; with GPT-2's it is not decided");
}

}  // namespace
}  // namespace addnorm
