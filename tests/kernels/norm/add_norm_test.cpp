// The fused Add & Norm against an independent long double oracle, over widths, rows, means and deviations.
#include "addnorm/kernels/add_norm.h"

#include "support/every_target.h"
#include "support/norms/norm_case.h"
#include "support/norms/norm_grid.h"

namespace addnorm {
namespace {

using test::NormCase;

class AddNormTest : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(AddNormTest);

TEST_P(AddNormTest, MatchesTheOracleAtEveryTailLength) {
  for (const bool layer : {true, false})
    for (std::size_t width = 1; width <= 70; ++width) {
      NormCase c(5, width);
      c.layer = layer;
      c.run();
      expect_forward_exact(c);
      expect_backward_exact(c);
    }
}

TEST(NormGrid, N01_CoversEveryAllowedPairOfValuesOfAnyTwoFactors) {
  for (const std::size_t limit : {std::size_t{1} << 18, std::size_t{1} << 24}) {
    const auto chosen = test::pairwise_choices(limit);
    EXPECT_EQ(test::pairs_of(chosen), test::pairs_of(test::allowed_choices(limit)));
    EXPECT_LT(chosen.size(), 250u);
  }
  // 2^24 leaves out only 65537 rows wider than 255, and 1000 rows of 32768.
  EXPECT_EQ(test::pairs_of(test::allowed_choices(std::size_t{1} << 24)).size(),
            8u * 3 + 8 * 22 + 8 * 9 + 3 * 22 + 3 * 9 + (22 * 9 - 8));
}

TEST(NormGrid, N01_FourUlpOverMeansDeviationsWidthsAndRowsUpToAQuarterMillionElements) {
  test::expect_grid_exact(std::size_t{1} << 18);
}

}  // namespace
}  // namespace addnorm
