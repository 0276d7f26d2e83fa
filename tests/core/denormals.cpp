#include "addnorm/core/denormals.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

#include "addnorm/core/parallel.h"
#include "core/json.h"

namespace addnorm {
namespace {

float half_of_the_smallest() {
  volatile float smallest = std::numeric_limits<float>::min();
  return smallest / 2.0f;
}

#ifdef __SSE2__
TEST(FlushDenormals, HoldsForTheThreadAndThoseItStartsAndNoOther) {
  constexpr std::size_t kBlocks = 64;
  std::atomic<std::size_t> flushed = 0;
  float own = -1, of_child = -1;
  std::thread([&] {
    flush_denormals();
    own = half_of_the_smallest();
    std::thread([&] { of_child = half_of_the_smallest(); }).join();
    parallel_blocks(kBlocks, [&](std::size_t) { flushed += half_of_the_smallest() == 0.0f; });
  }).join();
  EXPECT_EQ(own, 0.0f);
  EXPECT_EQ(of_child, 0.0f);
  EXPECT_EQ(flushed, kBlocks);
  EXPECT_GT(half_of_the_smallest(), 0.0f);
}
#endif

TEST(FlushDenormals, LeavesWhatIsWrittenOfADenormalNumber) {
  std::string written;
  std::thread([&] {
    flush_denormals();
    for (const char* text : {"1e-320", "-5e-324", "2.225073858507201e-308", "0"})
      written += parsed(text, "a number").dump() + Json(parsed(text, "a number").number()).dump() + " ";
  }).join();
  EXPECT_EQ(written, "1e-3201e-320 -5e-324-5e-324 2.225073858507201e-3082.225073858507201e-308 00.0 ");
  EXPECT_EQ(Json(std::numeric_limits<double>::denorm_min()).dump(), "5e-324");
}

}  // namespace
}  // namespace addnorm
