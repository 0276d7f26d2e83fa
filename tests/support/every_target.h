// Runs a test once per instruction set that this machine has: TEST_P(EveryTarget, ...) after ADDNORM_EVERY_TARGET().
#pragma once

#include <gtest/gtest.h>

#include "addnorm/core/parallel.h"
#include "hwy/targets.h"

namespace addnorm::test {

/// While the test runs, kernels dispatch to one target only.
class EveryTarget : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

/// The same on one thread: thousands of tiny calls would mostly wake threads. Thread counts are the subject of N-13.
class EveryTargetOnOneThread : public EveryTarget {
 protected:
  void SetUp() override {
    EveryTarget::SetUp();
    set_threads(1);
  }
  void TearDown() override {
    set_threads(before_);
    EveryTarget::TearDown();
  }

 private:
  int before_ = threads();
};

inline std::vector<int64_t> targets_here() { return hwy::SupportedAndGeneratedTargets(); }

#define ADDNORM_EVERY_TARGET(suite)                                    \
  INSTANTIATE_TEST_SUITE_P(                                            \
      Simd, suite, testing::ValuesIn(::addnorm::test::targets_here()), \
      [](const testing::TestParamInfo<int64_t>& target) { return std::string(hwy::TargetName(target.param)); })

}  // namespace addnorm::test
