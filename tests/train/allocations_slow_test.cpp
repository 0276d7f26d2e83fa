// T-07: every single allocation of a whole run fails once (one in 31 where that is slow).
#include "support/sanitizer.h"
#include "train/failing_run.h"

namespace addnorm {
namespace {

using test::FailingRun;

TEST_F(FailingRun, T07EveryAllocationFailsOnceAndNothingIsLost) {
  EXPECT_GT(with_failing_allocations(test::kSanitized ? 31 : 1), 10000u);
}

}  // namespace
}  // namespace addnorm
