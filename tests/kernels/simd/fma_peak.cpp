// The peak of the machine, from C++ without the tool.
#include "addnorm/kernels/fma_peak.h"

#include <gtest/gtest.h>

#include "addnorm/core/parallel.h"

namespace addnorm::kernels {
namespace {

TEST(FmaPeak, CountsTwoOperationsForEveryMultiplyAddOfEveryThread) {
  const int before = threads();
  set_threads(1);
  const double one = multiply_add(100);
  set_threads(2);
  const double two = multiply_add(100);
  set_threads(before);
  EXPECT_EQ(two, 2 * one);
  EXPECT_EQ(multiply_add(200) / multiply_add(100), 2);
  EXPECT_GE(one, 2 * 10 * 100) << "ten chains of at least one lane";
}

TEST(FmaPeak, IsARateForTheThreadsAskedForAndLeavesTheirNumberAsItWas) {
  const int before = threads();
  EXPECT_GT(fma_peak(1), 1e6);
  EXPECT_LT(fma_peak(2), 1e14);
  EXPECT_EQ(threads(), before);
}

}  // namespace
}  // namespace addnorm::kernels
