// T-07: memory that runs out at any moment of a whole run. All moments: train/trainer/allocations_nightly_test.cpp.
#include <vector>

#include "addnorm/tensor/tensor.h"
#include "support/faults/failing_pages.h"
#include "support/sanitizer.h"
#include "train/run/failing_run.h"

namespace addnorm {
namespace {

using test::FailingPages;
using test::FailingRun;

TEST_F(FailingRun, T07OneAllocationInManyFailsAndNothingIsLost) {
  EXPECT_GT(with_failing_allocations(test::kSanitized ? 499 : 97), 10000u);
}

TEST_F(FailingRun, T07TheSystemRefusesPagesFromAnyCallOn) {
  std::size_t number = 0;
  for (bool done = false; !done && !HasFailure(); ++number) {
    SCOPED_TRACE(concat("call ", number));
    arena_trim();
    done = run_with<FailingPages>(number);
    expect_that_nothing_is_lost();
  }
  EXPECT_GE(number, 3u);  // no address space, no pages of it, both
}

/// Tensors that leave the arena no room at all: what it has is taken, and there are no more pages.
std::vector<Tensor> all_room() {
  std::vector<Tensor> taken;
  taken.emplace_back(Shape{1});  // some megabytes of pages come with it
  const FailingPages none;
  for (const std::size_t elements : {65536u, 16u}) try {
      while (true) taken.emplace_back(Shape{elements});
    } catch (const Error&) {
    }
  return taken;
}

// Pages come by the megabyte, so that their end is met at few moments. Here it is met at many: the run is given room bit by bit.
TEST_F(FailingRun, T07TensorsFindNoRoomAtAnyMoment) {
  const std::size_t step = test::kSanitized ? 32 : 8;  // pieces of 64 bytes
  std::size_t failures = 0;
  for (bool done = false; !done && !HasFailure() && failures < 500; failures += !done) {
    SCOPED_TRACE(concat(failures * step, " pieces of room"));
    arena_trim();
    std::vector<Tensor> taken = all_room();
    taken.resize(taken.size() - failures * step);
    done = run_with<FailingPages>(0);
    taken.clear();
    arena_trim();
    expect_that_nothing_is_lost();
  }
  EXPECT_GT(failures, 20u);
  EXPECT_LT(failures, 500u);
}

}  // namespace
}  // namespace addnorm
