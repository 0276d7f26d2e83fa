// N-01 of docs/testing.md in full: up to 2^24 elements per case, 65537 rows included.
#include <gtest/gtest.h>

#include "support/norms/norm_grid.h"

namespace addnorm {
namespace {

TEST(NormGrid, N01_FourUlpOverMeansDeviationsWidthsAndRowsUpToSixteenMillionElements) {
  test::expect_grid_exact(std::size_t{1} << 24);
}

}  // namespace
}  // namespace addnorm
