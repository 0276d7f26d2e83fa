#include "kernels/elementwise/elementwise.h"

#include <cmath>

#include "support/every_target.h"
#include "support/faults/guarded.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::Guarded;
using test::normal_values;

constexpr std::uint64_t kKey = 0x0123456789abcdef;

class Dropout : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(Dropout);

TEST_P(Dropout, EqualsTheReferenceBitForBitAtEveryWidth) {
  for (std::size_t width = 0; width < 40; ++width) {
    for (const test::Edge edge : test::kEdges) {
      const Guarded<float> x(normal_values(3 * width, 1), edge);
      Guarded<float> y(x.size(), edge);
      std::vector<float> want(x.size());
      kernels::dropout(x.data(), 3, width, 0.4f, kKey, 0xfffffffe, y.data());
      kernels::reference::dropout(x.data(), 3, width, 0.4f, kKey, 0xfffffffe, want.data());
      EXPECT_SAME_BITS(y, want);
    }
  }
}

TEST_P(Dropout, DoesNotDependOnHowTheBatchIsSplit) {
  const std::size_t rows = 10, width = 21;
  const auto x = normal_values(rows * width, 1);
  std::vector<float> whole(x.size()), parts(x.size());
  kernels::dropout(x.data(), rows, width, 0.1f, kKey, 100, whole.data());
  kernels::dropout(x.data(), 3, width, 0.1f, kKey, 100, parts.data());
  kernels::dropout(x.data() + 3 * width, rows - 3, width, 0.1f, kKey, 103, parts.data() + 3 * width);
  EXPECT_SAME_BITS(parts, whole);
}

TEST(DropoutOfManyElements, DropsTheShareItWasAskedForAndKeepsTheMean) {
  const std::size_t rows = 1000, width = 1000;
  const std::vector<float> ones(rows * width, 1.0f);
  std::vector<float> y(ones.size());
  for (const float p : {0.1f, 0.5f, 0.9f}) {
    kernels::dropout(ones.data(), rows, width, p, kKey, 0, y.data());
    std::size_t dropped = 0;
    for (const float v : y) dropped += v == 0.0f;
    const double share = static_cast<double>(dropped) / static_cast<double>(y.size()), expected = static_cast<double>(p);
    const double five_deviations = 5 * std::sqrt(expected * (1 - expected) / static_cast<double>(y.size()));
    EXPECT_NEAR(share, expected, five_deviations);
  }
}

TEST(DropoutOfManyElements, HasTheSameBitsForAnyThreadCount) {
  const std::size_t rows = 900, width = 77;
  const auto x = normal_values(rows * width, 1);
  std::vector<float> want(x.size()), y(x.size());
  kernels::reference::dropout(x.data(), rows, width, 0.25f, kKey, 5, want.data());
  test::with_every_thread_count([&] {
    kernels::dropout(x.data(), rows, width, 0.25f, kKey, 5, y.data());
    EXPECT_SAME_BITS(y, want);
  });
}

class Bias : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(Bias);

TEST_P(Bias, EqualsTheReferenceBitForBitAtEveryWidth) {
  for (std::size_t width = 0; width < 40; ++width) {
    for (const test::Edge edge : test::kEdges) {
      const Guarded<float> x(normal_values(3 * width, 1), edge), bias(normal_values(width, 2), edge);
      Guarded<float> y(x.size(), edge);
      std::vector<float> want(x.size());
      kernels::add_bias(x.data(), bias.data(), 3, width, y.data());
      kernels::reference::add_bias(x.data(), bias.data(), 3, width, want.data());
      EXPECT_SAME_BITS(y, want);
    }
  }
}

TEST(BiasOnManyRows, HasTheSameBitsForAnyThreadCount) {
  const std::size_t rows = 1500, width = 61;
  const auto x = normal_values(rows * width, 1), bias = normal_values(width, 2);
  std::vector<float> want(x.size()), y(x.size());
  kernels::reference::add_bias(x.data(), bias.data(), rows, width, want.data());
  test::with_every_thread_count([&] {
    kernels::add_bias(x.data(), bias.data(), rows, width, y.data());
    EXPECT_SAME_BITS(y, want);
  });
}

TEST_P(Bias, AddedToOneRowAloneIsThatRowOfTheBatch) {
  const std::size_t rows = 1500, width = 77, alone = 1203;
  const auto x = normal_values(rows * width, 1), bias = normal_values(width, 2);
  std::vector<float> all(x.size()), one(width);
  kernels::add_bias(x.data(), bias.data(), rows, width, all.data());
  kernels::add_bias(x.data() + alone * width, bias.data(), 1, width, one.data());
  EXPECT_SAME_BITS(one, std::span(all).subspan(alone * width, width));
}

}  // namespace
}  // namespace addnorm
