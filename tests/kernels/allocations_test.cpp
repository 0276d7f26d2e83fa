// A call with nothing to complain about asks for no memory, neither for scratch it has already nor for the text of a shape.
// Texts of up to 15 letters need none and are not seen here.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "addnorm/core/parallel.h"
#include "addnorm/core/shape.h"
#include "addnorm/kernels/add_norm.h"

namespace {
std::atomic<long> allocations{0};
}

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const auto step = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(step, (bytes + step - 1) / step * step)) return memory;
  throw std::bad_alloc();
}
// Not inlined: where g++ sees free() and not the malloc() before it, it takes them for a mismatch.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace addnorm {
namespace {

/// How often `work` asks for memory.
template <class Work>
long allocations_of(const Work& work) {
  const long before = allocations;
  work();
  return allocations - before;
}

constexpr std::size_t kLarge = 1'000'000;  // so that the text of a shape does not fit into a string without memory

TEST(Allocations, AreSeenByThisTest) {
  EXPECT_GE(allocations_of([] { EXPECT_FALSE(Shape({kLarge, 2, kLarge}).text().empty()); }), 1);
}

TEST(Allocations, AShapeNeedsNone) {
  EXPECT_EQ(allocations_of([] { EXPECT_EQ(Shape({kLarge, 2, kLarge}).elements(), 2 * kLarge * kLarge); }), 0);
}

TEST(Allocations, TheFusedAddAndNormNeedsNone) {
  constexpr std::size_t kRows = 5, kWidth = 24;
  set_threads(1);
  std::vector<float> x(kRows * kWidth, 1.0f), f(x), sum(x), y(x), dx(x), gamma(kWidth, 1.0f), dgamma(gamma), dbeta(gamma);
  std::vector<double> mean(kRows);
  std::vector<float> rstd(kRows);
  const auto call = [&] {
    add_layer_norm({.rows = kRows,
                    .width = kWidth,
                    .x = x.data(),
                    .f = f.data(),
                    .gamma = gamma.data(),
                    .beta = gamma.data(),
                    .sum = sum.data(),
                    .y = y.data(),
                    .mean = mean.data(),
                    .rstd = rstd.data()});
    add_layer_norm_grad({.rows = kRows,
                         .width = kWidth,
                         .dy = y.data(),
                         .dsum = f.data(),
                         .sum = sum.data(),
                         .mean = mean.data(),
                         .rstd = rstd.data(),
                         .gamma = gamma.data(),
                         .dx = dx.data(),
                         .df = dx.data(),
                         .dgamma = dgamma.data(),
                         .dbeta = dbeta.data()});
  };
  call();  // the first one makes the thread's scratch
  EXPECT_EQ(allocations_of(call), 0);
}

}  // namespace
}  // namespace addnorm
