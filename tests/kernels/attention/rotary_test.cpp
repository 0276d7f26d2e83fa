#include "kernels/attention/attention.h"

#include <cmath>

#include "support/every_target.h"
#include "support/faults/guarded.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::Guarded;
using test::normal_values;

constexpr std::size_t kPositions = 9;

/// Everything a call needs, between guard pages.
struct Case {
  std::size_t rows, heads, d_head, d_rotary, stride;
  Guarded<float> x, y, cos, sin;
  std::vector<std::int32_t> positions;

  Case(std::size_t rows_, std::size_t heads_, std::size_t d_head_, std::size_t d_rotary_, std::size_t gap, test::Edge edge)
      : rows(rows_),
        heads(heads_),
        d_head(d_head_),
        d_rotary(d_rotary_),
        stride(heads_ * d_head_ + gap),
        x(normal_values(rows * stride, d_head), edge),
        y(rows * stride, edge),
        cos(kPositions * d_rotary / 2, edge),
        sin(kPositions * d_rotary / 2, edge),
        positions(rows) {
    kernels::rotary_tables(kPositions, d_rotary, 10000, cos.data(), sin.data());
    for (std::size_t r = 0; r < rows; ++r) positions[r] = static_cast<std::int32_t>(r * 5 % kPositions);
  }
  kernels::RotaryArgs<float> args(bool adjacent, bool inverse, const float* from, float* to) const {
    return {.rows = rows,
            .heads = heads,
            .d_head = d_head,
            .d_rotary = d_rotary,
            .x = from,
            .x_stride = stride,
            .cos = cos.data(),
            .sin = sin.data(),
            .positions = positions.data(),
            .adjacent = adjacent,
            .inverse = inverse,
            .y = to,
            .y_stride = stride};
  }
};

class Rotary : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(Rotary);

TEST_P(Rotary, EqualsTheReferenceBitForBitForEveryHeadSizePairingAndDirection) {
  for (std::size_t d_rotary = 0; d_rotary < 40; d_rotary += 2) {
    for (const std::size_t rest : {0u, 3u}) {
      for (const bool adjacent : {false, true}) {
        for (const bool inverse : {false, true}) {
          Case c(3, 2, d_rotary + rest, d_rotary, rest, d_rotary % 4 == 0 ? test::Edge::end : test::Edge::start);
          std::vector<float> want(c.y.size(), 0.0f);
          kernels::rotary(c.args(adjacent, inverse, c.x.data(), c.y.data()));
          kernels::reference::rotary(c.args(adjacent, inverse, c.x.data(), want.data()));
          EXPECT_SAME_BITS(c.y, want);
          if (rest != 0) continue;
          kernels::rotary(c.args(adjacent, inverse, c.x.data(), c.x.data()));
          EXPECT_SAME_BITS(c.x, want);
        }
      }
    }
  }
}

TEST_P(Rotary, TurnsBackToWhereItCameFromAndKeepsLengths) {
  for (const bool adjacent : {false, true}) {
    Case c(8, 3, 24, 20, 0, test::Edge::end);
    std::vector<float> back(c.y.size());
    kernels::rotary(c.args(adjacent, false, c.x.data(), c.y.data()));
    kernels::rotary(c.args(adjacent, true, c.y.data(), back.data()));
    EXPECT_NEAR_ALL(back, c.x.values(), test::elementwise_tolerance());
  }
}

TEST_P(Rotary, OfOneRowAloneIsThatRowOfTheBatch) {
  for (const bool adjacent : {false, true})
    for (const bool inverse : {false, true}) {
      const std::size_t alone = 501;
      Case c(800, 3, 21, 18, 5, test::Edge::end);
      kernels::rotary(c.args(adjacent, inverse, c.x.data(), c.y.data()));
      auto args = c.args(adjacent, inverse, c.x.data() + alone * c.stride, nullptr);
      std::vector<float> one(c.stride, 0.0f);
      args.rows = 1, args.positions += alone, args.y = one.data();
      kernels::rotary(args);
      EXPECT_SAME_BITS(one, std::span<const float>(c.y).subspan(alone * c.stride, c.stride));
    }
}

TEST(RotaryTables, AreExactAtLargePositions) {
  std::vector<float> cos(100001), sin(100001);
  kernels::rotary_tables(100001, 2, 10000, cos.data(), sin.data());
  EXPECT_EQ(cos[100000], static_cast<float>(std::cos(100000.0)));
  EXPECT_EQ(sin[100000], static_cast<float>(std::sin(100000.0)));
  std::vector<float> cos4(4), sin4(4);
  kernels::rotary_tables(2, 4, 100, cos4.data(), sin4.data());
  EXPECT_SAME_BITS(cos4, (std::vector<float>{1, 1, static_cast<float>(std::cos(1.0)), static_cast<float>(std::cos(0.1))}));
}

TEST(RotaryOfManyRows, HasTheSameBitsForAnyThreadCount) {
  Case c(3000, 2, 16, 16, 0, test::Edge::end);
  std::vector<float> want(c.y.size());
  kernels::reference::rotary(c.args(true, false, c.x.data(), want.data()));
  test::with_every_thread_count([&] {
    kernels::rotary(c.args(true, false, c.x.data(), c.y.data()));
    EXPECT_SAME_BITS(c.y, want);
  });
}

}  // namespace
}  // namespace addnorm
