#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/packed.h"
#include "support/every_target.h"
#include "support/faults/guarded.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using kernels::ActivationKind;
using kernels::PackedGemm;
using test::Edge;
using test::Guarded;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct PackedProblem {
  std::size_t m, n, k;
  std::size_t pad = 0;  // of the rows of A and C
  bool bias = true;
  std::optional<ActivationKind> activation{};
};

std::ostream& operator<<(std::ostream& out, const PackedProblem& p) {
  return out << "m " << p.m << " n " << p.n << " k " << p.k << " pad " << p.pad << " bias " << p.bias;
}

/// A product with its operands. C starts as NaN.
class PackedProduct {
 public:
  explicit PackedProduct(const PackedProblem& problem)
      : p_(problem),
        a_(test::normal_values(p_.m * (p_.k + p_.pad), 1)),
        w_(test::normal_values(p_.n * p_.k, 2)),
        bias_(test::normal_values(p_.n, 3)) {}

  std::vector<float>& a() { return a_; }
  std::vector<float>& w() { return w_; }

  /// [m, n + pad]. What is read and written lies between pages that cannot be, in builds without a sanitizer too.
  std::vector<float> run(Edge edge = Edge::end) const {
    const Guarded<float> a(a_, edge);
    Guarded<float> packed(kernels::packed_elements(p_.n, p_.k), edge), c(std::vector<float>(p_.m * (p_.n + p_.pad), kNan), edge);
    kernels::pack_weight(w_.data(), p_.n, p_.k, packed.data());
    kernels::gemm_packed({.m = p_.m,
                          .n = p_.n,
                          .k = p_.k,
                          .a = a.data(),
                          .lda = p_.k + p_.pad,
                          .packed = packed.data(),
                          .bias = p_.bias ? bias_.data() : nullptr,
                          .activation = p_.activation,
                          .c = c.data(),
                          .ldc = p_.n + p_.pad});
    return c.values();
  }
  /// The reference loop in double; what lies between rows stays NaN.
  std::vector<double> want() const {
    const std::vector<double> a(a_.begin(), a_.end()), w(w_.begin(), w_.end()), bias(bias_.begin(), bias_.end());
    std::vector<double> c(p_.m * (p_.n + p_.pad), std::numeric_limits<double>::quiet_NaN());
    kernels::reference::gemm(kernels::GemmArgs<double>{.m = p_.m,
                                                       .n = p_.n,
                                                       .k = p_.k,
                                                       .a = a.data(),
                                                       .lda = p_.k + p_.pad,
                                                       .b = w.data(),
                                                       .transpose_b = true,
                                                       .bias = p_.bias ? bias.data() : nullptr,
                                                       .activation = p_.activation,
                                                       .c = c.data(),
                                                       .ldc = p_.n + p_.pad});
    return c;
  }

 private:
  PackedProblem p_;
  std::vector<float> a_, w_, bias_;
};

/// Around every size at which the cutting changes: tiles of 3, 4 and 12 rows, panels of 16, 24 and 32 columns, blocks of 96 rows,
/// chunks of 384 and 16 steps, 192 columns that are finished together, shared columns up to 192 rows.
std::vector<PackedProblem> packed_problems() {
  std::vector<PackedProblem> all;
  for (const std::size_t m : {1u, 2u, 3u, 4u, 5u, 7u, 13u, 16u, 97u, 193u})
    for (const auto& [n, k] :
         {std::pair<std::size_t, std::size_t>{1, 1}, {16, 384}, {24, 384}, {15, 40}, {33, 385}, {49, 31}, {64, 9}})
      all.push_back({m, n, k, (m + n) % 3, m % 2 == 0});
  all.push_back({300, 50, 1000});
  all.push_back({20, 400, 1536});
  all.push_back({.m = 30, .n = 432, .k = 0});
  return all;
}

class PackedGemmOnEveryTarget : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(PackedGemmOnEveryTarget);

TEST_P(PackedGemmOnEveryTarget, EqualsTheDoubleReferenceAndLeavesThePaddingAlone) {
  for (const PackedProblem& p : packed_problems()) {
    SCOPED_TRACE(testing::Message() << p);
    const PackedProduct product(p);
    for (const Edge edge : test::kEdges)
      EXPECT_NEAR_ALL(std::span<const float>(product.run(edge)), product.want(), test::products_tolerance(p.k));
  }
}

TEST_P(PackedGemmOnEveryTarget, AppliesTheActivationLast) {
  for (const std::size_t m : {1u, 20u, 100u})
    for (const ActivationKind kind : {ActivationKind::gelu, ActivationKind::gelu_tanh, ActivationKind::relu, ActivationKind::silu,
                                      ActivationKind::sigmoid, ActivationKind::tanh}) {
      SCOPED_TRACE(testing::Message() << "m " << m << " kind " << static_cast<int>(kind));
      const auto plain = PackedProduct({m, 37, 50}).run();
      std::vector<float> want(plain.size());
      kernels::activate(kind, plain.data(), plain.size(), want.data());
      EXPECT_SAME_BITS(PackedProduct({.m = m, .n = 37, .k = 50, .activation = kind}).run(), want);
    }
}

TEST_P(PackedGemmOnEveryTarget, GivesARowTheSameBitsWhateverTheOthersAre) {
  constexpr std::size_t kRows = 250, kColumns = 70, kDepth = 805;
  const auto all = PackedProduct({kRows, kColumns, kDepth}).run();
  for (const std::size_t m : {1u, 4u, 11u, 96u, 200u}) {
    SCOPED_TRACE(m);
    EXPECT_SAME_BITS(PackedProduct({m, kColumns, kDepth}).run(), std::span(all).first(m * kColumns));
  }
}

TEST(PackedGemm, GivesTheSameBitsForEveryNumberOfThreads) {
  for (const PackedProblem& p : {PackedProblem{400, 500, 300}, PackedProblem{16, 1152, 384}, PackedProblem{128, 384, 1536},
                                 PackedProblem{333, 1025, 64}}) {
    SCOPED_TRACE(testing::Message() << p);
    const PackedProduct product(p);
    std::vector<float> first;
    test::with_every_thread_count([&] {
      const auto c = product.run();
      if (first.empty()) first = c;
      EXPECT_SAME_BITS(c, first);
    });
  }
}

TEST(PackedGemm, WithNothingToSumGivesTheBias) {
  const auto with = PackedProduct({.m = 3, .n = 20, .k = 0}).run();
  EXPECT_SAME_BITS(std::span(with).first(20), test::normal_values(20, 3));
  EXPECT_SAME_BITS(PackedProduct({.m = 3, .n = 20, .k = 0, .bias = false}).run(), std::vector<float>(60, 0.0f));
}

TEST(PackedGemm, WithoutRowsOrColumnsTouchesNothing) {
  EXPECT_TRUE(PackedProduct({.m = 0, .n = 5, .k = 3}).run().empty());
  EXPECT_TRUE(PackedProduct({.m = 5, .n = 0, .k = 3}).run().empty());
}

TEST(PackedGemm, CarriesNanAndInfinityThroughZeros) {
  for (const float bad : {std::numeric_limits<float>::infinity(), kNan}) {
    PackedProduct row({9, 40, 500}), column({9, 40, 500});
    std::ranges::fill(row.w(), 0.0f);
    row.a()[4 * 500 + 499] = bad;
    std::ranges::fill(column.a(), 0.0f);
    column.w()[33 * 500 + 7] = bad;
    const auto by_row = row.run(), by_column = column.run();
    for (std::size_t i = 0; i < 9; ++i)
      for (std::size_t j = 0; j < 40; ++j) {
        ASSERT_EQ(std::isnan(by_row[i * 40 + j]), i == 4) << i << ", " << j;
        ASSERT_EQ(std::isnan(by_column[i * 40 + j]), j == 33) << i << ", " << j;
      }
  }
}

TEST_P(PackedGemmOnEveryTarget, APackedWeightIsPanelsOfColumnsFilledUpWithZeros) {
  const std::size_t columns = kernels::panel_columns(), n = columns + 2;
  const std::vector<float> w = test::normal_values(n * 3, 1);
  std::vector<float> packed(kernels::packed_elements(n, 3), kNan);
  ASSERT_EQ(packed.size(), 2 * columns * 3);
  kernels::pack_weight(w.data(), n, 3, packed.data());
  for (std::size_t j = 0; j < 2 * columns; ++j)
    for (std::size_t p = 0; p < 3; ++p)
      EXPECT_EQ(packed[j / columns * columns * 3 + p * columns + j % columns], j < n ? w[j * 3 + p] : 0.0f) << j << ", " << p;
}

}  // namespace
}  // namespace addnorm
