#include "kernels/elementwise.h"

#include "support/every_target.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::normal_values;

class Elementwise : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(Elementwise);

TEST_P(Elementwise, EqualsTheReferenceBitForBitAtEveryTailLength) {
  for (std::size_t n = 0; n < 70; ++n) {
    const auto a = normal_values(n, 1), b = normal_values(n, 2);
    std::vector<float> got(n), want(n);
    kernels::add(a.data(), b.data(), n, got.data());
    kernels::reference::add(a.data(), b.data(), n, want.data());
    EXPECT_SAME_BITS(got, want);
    kernels::subtract(a.data(), b.data(), n, got.data());
    kernels::reference::subtract(a.data(), b.data(), n, want.data());
    EXPECT_SAME_BITS(got, want);
    kernels::multiply(a.data(), b.data(), n, got.data());
    kernels::reference::multiply(a.data(), b.data(), n, want.data());
    EXPECT_SAME_BITS(got, want);
  }
}

}  // namespace
}  // namespace addnorm
