#include "addnorm/core/denormals.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

#include "addnorm/core/parallel.h"

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

}  // namespace
}  // namespace addnorm
