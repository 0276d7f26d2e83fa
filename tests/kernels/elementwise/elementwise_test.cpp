#include "kernels/elementwise/elementwise.h"

#include "support/every_target.h"
#include "support/faults/guarded.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::Guarded;
using test::normal_values;

class Elementwise : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(Elementwise);

constexpr float kFactor = -1.7f;

/// An operation on two arrays (scale looks at the first only), as kernel and as reference.
struct Operation {
  const char* name;
  void (*kernel)(const float*, const float*, std::size_t, float*);
  void (*reference)(const float*, const float*, std::size_t, float*);
};
const Operation kOperations[] = {
    {"add", kernels::add, kernels::reference::add<float>},
    {"subtract", kernels::subtract, kernels::reference::subtract<float>},
    {"multiply", kernels::multiply, kernels::reference::multiply<float>},
    {"scale", [](const float* a, const float*, std::size_t n, float* y) { kernels::scale(a, kFactor, n, y); },
     [](const float* a, const float*, std::size_t n, float* y) { kernels::reference::scale(a, kFactor, n, y); }},
};

void expect_equals_reference(std::size_t n) {
  const auto a = normal_values(n, 1), b = normal_values(n, 2);
  std::vector<float> want(n);
  for (const test::Edge edge : test::kEdges) {
    const Guarded<float> ga(a, edge), gb(b, edge);
    Guarded<float> y(n, edge);
    for (const Operation& operation : kOperations) {
      SCOPED_TRACE(concat(operation.name, " of ", n));
      operation.kernel(ga.data(), gb.data(), n, y.data());
      operation.reference(a.data(), b.data(), n, want.data());
      EXPECT_SAME_BITS(y, want);
      Guarded<float> in_place(a, edge);
      operation.kernel(in_place.data(), gb.data(), n, in_place.data());
      EXPECT_SAME_BITS(in_place, want);
    }
  }
}

TEST_P(Elementwise, EqualsTheReferenceBitForBitAtEveryTailLength) {
  for (std::size_t n = 0; n < 70; ++n) expect_equals_reference(n);
}

TEST_P(Elementwise, EqualsTheReferenceBitForBitAroundTheBlockOf32768Elements) {
  for (const std::size_t n : {32767u, 32768u, 32769u, 100003u}) expect_equals_reference(n);
}

TEST_P(Elementwise, HasTheSameBitsForAnyNumberOfThreadsAndAnySplit) {
  const std::size_t n = 100003, split = 17;
  const auto a = normal_values(n, 1), b = normal_values(n, 2);
  for (const Operation& operation : kOperations) {
    SCOPED_TRACE(operation.name);
    std::vector<float> want(n), parts(n);
    operation.reference(a.data(), b.data(), n, want.data());
    test::with_every_thread_count([&] {
      std::vector<float> y(n);
      operation.kernel(a.data(), b.data(), n, y.data());
      EXPECT_SAME_BITS(y, want);
    });
    operation.kernel(a.data(), b.data(), split, parts.data());
    operation.kernel(a.data() + split, b.data() + split, n - split, parts.data() + split);
    EXPECT_SAME_BITS(parts, want);
  }
}

}  // namespace
}  // namespace addnorm
