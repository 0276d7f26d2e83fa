// Which instruction sets the tests cover on this machine. scripts/test repeats the line that starts with "SIMD:".
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "hwy/highway.h"

namespace addnorm {
namespace {

std::string names(std::int64_t targets) {
  std::string out;
  for (std::int64_t rest = targets; rest != 0; rest &= rest - 1) out += std::string(" ") + hwy::TargetName(rest & -rest);
  return out.empty() ? " none" : out;
}

TEST(SimdTargets, AtLeastTwoOfThoseCompiledRunHere) {
  const std::int64_t compiled = HWY_TARGETS;
  const std::int64_t run = compiled & hwy::SupportedTargets();
  std::printf("SIMD: run here:%s; compiled, but this CPU cannot run them:%s\n", names(run).c_str(),
              names(compiled & ~run).c_str());
  EXPECT_NE(run & HWY_STATIC_TARGET, 0) << "the baseline must run everywhere";
  EXPECT_NE(run & ~HWY_STATIC_TARGET, 0) << "only the baseline runs: the SIMD code is not tested";
}

}  // namespace
}  // namespace addnorm
