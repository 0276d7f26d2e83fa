#include "kernels/reduce/reduce.h"

#include <cmath>
#include <limits>

#include "support/every_target.h"
#include "support/faults/guarded.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::Guarded;
using test::normal_values;

class ColumnSums : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(ColumnSums);

TEST_P(ColumnSums, EqualTheReferenceBitForBitAtEveryWidthAndBlockEdge) {
  for (const std::size_t rows : {0u, 1u, 3u, 63u, 64u, 65u, 130u}) {
    for (std::size_t width = 0; width < 36; ++width) {
      const std::size_t stride = width + 3;
      const auto x = normal_values(rows * stride, rows + width);
      std::vector<float> got(width), want(width), scratch(kernels::column_sums_scratch(rows, width));
      kernels::column_sums(x.data(), rows, width, stride, scratch.data(), got.data());
      kernels::reference::column_sums(x.data(), rows, width, stride, want.data());
      EXPECT_SAME_BITS(got, want);
    }
  }
}

TEST_P(ColumnSums, StayInsideTheirBuffers) {
  for (const test::Edge edge : test::kEdges) {
    for (std::size_t width = 1; width < 20; ++width) {
      const Guarded<float> x(normal_values(67 * width, 1), edge);
      Guarded<float> scratch(kernels::column_sums_scratch(67, width), edge), y(width, edge);
      kernels::column_sums(x.data(), 67, width, width, scratch.data(), y.data());
    }
  }
}

TEST(ColumnSumsOfManyRows, HaveTheSameBitsForAnyThreadCount) {
  const std::size_t rows = 700, width = 530;
  const auto x = normal_values(rows * width, 5);
  std::vector<float> want(width), got(width), scratch(kernels::column_sums_scratch(rows, width));
  kernels::reference::column_sums(x.data(), rows, width, width, want.data());
  test::with_every_thread_count([&] {
    kernels::column_sums(x.data(), rows, width, width, scratch.data(), got.data());
    EXPECT_SAME_BITS(got, want);
  });
}

TEST(ColumnSumsOfManyRows, KeepTheirAccuracyOverAMillionEqualRows) {
  const std::size_t rows = 1000000;  // one float accumulator would end near 97,000
  const std::vector<float> x(rows, 0.1f);
  std::vector<float> y(1), scratch(kernels::column_sums_scratch(rows, 1));
  kernels::column_sums(x.data(), rows, 1, 1, scratch.data(), y.data());
  EXPECT_NEAR_ALL(y, (std::vector<double>{static_cast<double>(0.1f) * rows}), test::reduction_tolerance(kernels::kBlockRows));
}

TEST(ColumnSumsOfManyRows, PassNaNToItsColumnOnly) {
  std::vector<float> x(100 * 9, 1.0f), y(9), scratch(kernels::column_sums_scratch(100, 9));
  x[50 * 9 + 4] = std::numeric_limits<float>::quiet_NaN();
  kernels::column_sums(x.data(), 100, 9, 9, scratch.data(), y.data());
  for (std::size_t c = 0; c < 9; ++c) EXPECT_EQ(std::isnan(y[c]), c == 4) << c;
}

}  // namespace
}  // namespace addnorm
