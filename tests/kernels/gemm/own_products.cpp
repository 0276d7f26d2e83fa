// Products for platforms without oneDNN, held to the reference loop like the others.
#include <gtest/gtest.h>

#include "kernels/gemm/multiply.h"
#include "kernels/reference/gemm.h"
#include "support/every_target.h"
#include "support/near.h"

namespace addnorm {
namespace {

using kernels::Operand;
using kernels::Update;

class OwnProducts : public test::EveryTargetOnOneThread {};

struct Form {
  std::size_t m, n, k;
  bool transpose_a, transpose_b, add;
  float alpha;
};

std::vector<float> expected(const Form& f, const Operand& a, const Operand& b, std::vector<float> c, std::size_t ldc) {
  kernels::reference::gemm(kernels::GemmArgs<float>{.m = f.m,
                                                    .n = f.n,
                                                    .k = f.k,
                                                    .a = a.data,
                                                    .lda = a.ld,
                                                    .transpose_a = a.transposed,
                                                    .b = b.data,
                                                    .ldb = b.ld,
                                                    .transpose_b = b.transposed,
                                                    .alpha = f.alpha,
                                                    .update = f.add ? Update::accumulate : Update::overwrite,
                                                    .c = c.data(),
                                                    .ldc = ldc});
  return c;
}

TEST_P(OwnProducts, AgreeWithTheReferenceInEveryFormAndTail) {
  for (const std::size_t m : std::initializer_list<std::size_t>{1, 3, 4, 9})
    for (const std::size_t n : std::initializer_list<std::size_t>{1, 7, 16, 33, 70})
      for (const std::size_t k : std::initializer_list<std::size_t>{0, 1, 17, 256, 300})
        for (int bits = 0; bits < 8; ++bits) {
          const Form f{m, n, k, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, bits < 4 ? 1.0f : 0.5f};
          const std::size_t pad = 3, lda = (f.transpose_a ? m : k) + pad, ldb = (f.transpose_b ? k : n) + pad, ldc = n + pad;
          const std::vector<float> a = test::normal_values((f.transpose_a ? k : m) * lda + 1, 1),
                                   b = test::normal_values((f.transpose_b ? n : k) * ldb + 1, 2),
                                   before = test::normal_values(m * ldc, 3);
          const Operand left{a.data(), lda, f.transpose_a}, right{b.data(), ldb, f.transpose_b};
          std::vector<float> c = before;
          kernels::own::multiply(left, right, m, n, k, f.alpha, f.add, c.data(), ldc);
          SCOPED_TRACE(testing::Message() << "m " << m << " n " << n << " k " << k << " form " << bits);
          const std::vector<float> want = expected(f, left, right, before, ldc);
          EXPECT_NEAR_ALL(std::span<const float>(c), std::span<const float>(want), test::product_tolerance(k));
        }
}

TEST_P(OwnProducts, HaveBitsThatNeitherRowsNorColumnsBesideChange) {
  const std::size_t m = 9, n = 70, k = 300;
  const std::vector<float> a = test::normal_values(m * k, 1), b = test::normal_values(k * n, 2);
  std::vector<float> all(m * n), one(1);
  kernels::own::multiply({a.data(), k, false}, {b.data(), n, false}, m, n, k, 1, false, all.data(), n);
  for (const std::size_t i : std::initializer_list<std::size_t>{0, 3, 8})
    for (const std::size_t j : std::initializer_list<std::size_t>{0, 31, 69}) {
      kernels::own::multiply({a.data() + i * k, k, false}, {b.data() + j, n, false}, 1, 1, k, 1, false, one.data(), 1);
      EXPECT_EQ(one[0], all[i * n + j]) << i << ", " << j;
    }
}

ADDNORM_EVERY_TARGET(OwnProducts);

}  // namespace
}  // namespace addnorm
