// Positions: both sinusoidal layouts by hand, learned tables, limits.
#include "addnorm/nn/positions.h"

#include <cmath>

#include "support/gradients.h"
#include "support/modules.h"

namespace addnorm {
namespace {

using test::throws_saying;

TEST(Sinusoidal, InterleavesSineAndCosineOfOneFrequency) {
  const Tensor table = sinusoidal_table(5, 6, false);
  for (std::size_t p = 0; p < 5; ++p)
    for (std::size_t i = 0; i < 3; ++i) {
      const double angle = static_cast<double>(p) / std::pow(10000.0, 2.0 * static_cast<double>(i) / 6);
      EXPECT_EQ(table.data<float>()[p * 6 + 2 * i], static_cast<float>(std::sin(angle)));
      EXPECT_EQ(table.data<float>()[p * 6 + 2 * i + 1], static_cast<float>(std::cos(angle)));
    }
}

TEST(Sinusoidal, HalvesHaveAllSinesFirstAndEndAtTenThousand) {
  const Tensor table = sinusoidal_table(5, 6, true);
  for (std::size_t p = 0; p < 5; ++p)
    for (std::size_t i = 0; i < 3; ++i) {
      const double angle = static_cast<double>(p) * std::pow(10000.0, -static_cast<double>(i) / 2);
      EXPECT_EQ(table.data<float>()[p * 6 + i], static_cast<float>(std::sin(angle)));
      EXPECT_EQ(table.data<float>()[p * 6 + 3 + i], static_cast<float>(std::cos(angle)));
    }
}

TEST(Sinusoidal, OddAndTinyWidthsStayInBounds) {
  for (const bool halves : {false, true})
    for (std::size_t width = 1; width < 6; ++width) {
      const Tensor table = sinusoidal_table(3, width, halves);
      for (const float v : table.values<float>()) EXPECT_LE(std::abs(v), 1.0f);
    }
}

TEST(Positions, LearnedAreAddedFromTheGivenFirstOne) {
  Positions positions(PositionKind::learned, 7, 4);
  test::scramble(positions);
  EXPECT_EQ(count_parameters(positions), 28u);
  const Var zero(Tensor::zeros({2, 3, 4}));
  const Tensor y = positions(zero, 2).value(), whole = positions(Var(Tensor::zeros({1, 7, 4}))).value();
  for (std::size_t i = 0; i < y.elements(); ++i) EXPECT_EQ(y.data<float>()[i], whole.data<float>()[8 + i % 12]);
  EXPECT_TRUE(test::gradients_hold(positions, [&](const std::vector<Var>& in) { return positions(in[0], 1); },
                                   {test::input({2, 3, 4}, 1)}));
}

TEST(Positions, OfRotaryKindsAndNoneAddNothing) {
  for (const PositionKind kind : {PositionKind::none, PositionKind::rotary, PositionKind::rotary_halves}) {
    Positions positions(kind, 7, 4);
    const Var x(test::normal_tensor({1, 2, 4}, 1));
    EXPECT_SAME_BITS(positions(x).value().values<float>(), x.value().values<float>());
    EXPECT_EQ(count_parameters(positions), 0u);
  }
}

TEST(Positions, RefuseASequenceBeyondTheTable) {
  for (const PositionKind kind : {PositionKind::learned, PositionKind::sinusoidal}) {
    const Positions positions(kind, 4, 2);
    EXPECT_TRUE(throws_saying<UsageError>(
        [&] {
          positions(Var(Tensor::zeros({1, 3, 2})), 2);
        },
        {"2 ... 4", "max_positions is 4"}));
  }
}

TEST(PositionNames, AreKnownByTheirAliases) {
  EXPECT_EQ(positions_named("RoPE"), PositionKind::rotary);
  EXPECT_EQ(positions_named("sinusoidal_halves"), PositionKind::sinusoidal_halves);
  for (const std::string& name : position_names()) EXPECT_EQ(name_of(positions_named(name)), name);
  EXPECT_TRUE(throws_saying<UsageError>([] { positions_named("lerned"); },
                                        {"unknown kind of positions 'lerned'", "did you mean learned"}));
}

}  // namespace
}  // namespace addnorm
