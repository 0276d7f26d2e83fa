// The vector functions of math-inl.h, compiled here once per instruction set and compared with double.
#include <cmath>
#include <limits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/math_test.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// n is a multiple of 64, so of every lane count.
void exp_all(const float* x, size_t n, float* y, float* or_zero) {
  const hn::ScalableTag<float> d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::StoreU(exp(d, hn::LoadU(d, x + i)), d, y + i);
    hn::StoreU(exp_or_zero(d, hn::LoadU(d, x + i)), d, or_zero + i);
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "support/every_target.h"
#include "support/near.h"

namespace addnorm {
namespace kernels {
HWY_EXPORT(exp_all);
}
namespace {

class VectorMath : public test::EveryTarget {
 protected:
  static void evaluate(const std::vector<float>& x, std::vector<float>& y, std::vector<float>& or_zero) {
    y.resize(x.size());
    or_zero.resize(x.size());
    using namespace kernels;
    HWY_DYNAMIC_DISPATCH(exp_all)(x.data(), x.size(), y.data(), or_zero.data());
  }
};
ADDNORM_EVERY_TARGET(VectorMath);

TEST_P(VectorMath, ExpIsWithinTwoUlpOverItsWholeRange) {
  std::vector<float> x, y, or_zero;
  for (float v = -110.0f; v < 95.0f; v += 0.00137f) x.push_back(v);
  x.resize(x.size() / 64 * 64);
  evaluate(x, y, or_zero);
  std::vector<double> want, want_normal;
  for (const float v : x) {
    const double exact = std::exp(static_cast<double>(v));
    const bool overflows = exact > static_cast<double>(std::numeric_limits<float>::max());
    want.push_back(overflows ? HUGE_VAL : exact);
    want_normal.push_back(exact < static_cast<double>(std::numeric_limits<float>::min()) ? 0 : want.back());
  }
  EXPECT_NEAR_ALL(y, want, test::two_ulp());
  while (x.back() > 88.0f) {  // exp_or_zero promises nothing above
    x.pop_back(), or_zero.pop_back(), want_normal.pop_back();
  }
  EXPECT_NEAR_ALL(or_zero, want_normal, test::two_ulp());
}

TEST_P(VectorMath, ExpOfInfinitiesZerosAndNan) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x(64, 0.0f), y, or_zero;
  x[1] = -0.0f, x[2] = -inf, x[3] = nan, x[4] = inf, x[5] = -1e30f, x[6] = 1e30f, x[7] = -1e5f;
  evaluate(x, y, or_zero);
  EXPECT_SAME_BITS(std::span(y).first(3), (std::vector<float>{1, 1, 0}));
  EXPECT_SAME_BITS(std::span(y).subspan(4, 4), (std::vector<float>{inf, 0, inf, 0}));
  EXPECT_SAME_BITS(std::span(or_zero).first(3), (std::vector<float>{1, 1, 0}));
  EXPECT_TRUE(std::isnan(y[3]) && std::isnan(or_zero[3]));
  EXPECT_EQ(or_zero[5], 0.0f);
  EXPECT_EQ(or_zero[7], 0.0f);
}

}  // namespace
}  // namespace addnorm
#endif
