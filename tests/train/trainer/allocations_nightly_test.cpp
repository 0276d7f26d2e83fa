// T-07: every single allocation of a whole run fails once (one in 32 where that is slow). In parts, which ctest runs side by
// side.
#include "support/sanitizer.h"
#include "train/run/failing_run.h"

namespace addnorm {
namespace {

constexpr std::size_t kParts = 4;

class FailingRunInParts : public test::FailingRun, public testing::WithParamInterface<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(All, FailingRunInParts, testing::Range<std::size_t>(0, kParts));

TEST_P(FailingRunInParts, T07EveryAllocationFailsOnceAndNothingIsLost) {
  EXPECT_GT(with_failing_allocations(test::kSanitized ? 32 : kParts, GetParam()), 10000u);
}

}  // namespace
}  // namespace addnorm
