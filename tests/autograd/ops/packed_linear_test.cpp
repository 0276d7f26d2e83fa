#include "addnorm/autograd/ops.h"

#include "addnorm/autograd/tape.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::normal_tensor;
using test::throws_saying;

TEST(PackedLinear, IsTheAffineMapOfThePlainWeight) {
  for (const std::size_t out : {1u, 16u, 24u, 40u, 96u})
    for (const LinearActivation activation : {LinearActivation::none, LinearActivation::gelu, LinearActivation::relu}) {
      const Tensor w = normal_tensor({out, 30}, 1), bias = normal_tensor({out}, 2), x = normal_tensor({2, 5, 30}, 3);
      const Tensor y = packed_linear(x, PackedWeight(w), bias, activation);
      EXPECT_EQ(y.shape(), (Shape{2, 5, out}));
      EXPECT_NEAR_ALL(y, linear(Var(x), Var(w), Var(bias), activation).value(), test::product_tolerance(30));
      EXPECT_NEAR_ALL(packed_linear(x, PackedWeight(w)), linear(Var(x), Var(w)).value(), test::product_tolerance(30));
    }
}

TEST(PackedLinear, GivesARowTheSameBitsAloneAndInABatch) {
  const PackedWeight w(normal_tensor({50, 200}, 1));
  const Tensor x = normal_tensor({300, 200}, 2), bias = normal_tensor({50}, 3);
  const Tensor all = packed_linear(x, w, bias, LinearActivation::gelu);
  for (const std::size_t row : {0u, 7u, 150u, 299u}) {
    const Tensor one = Tensor::of({1, 200}, x.values<float>().subspan(row * 200, 200));
    EXPECT_SAME_BITS(packed_linear(one, w, bias, LinearActivation::gelu).values<float>(),
                     all.values<float>().subspan(row * 50, 50));
  }
}

TEST(PackedWeight, TakesOverTheMemoryOfAWeightThatNobodyElseHolds) {
  Tensor alone = normal_tensor({96, 20}, 1), held = normal_tensor({96, 20}, 1);  // whole panels of any width
  const Tensor x = normal_tensor({3, 20}, 2), copy = held;
  const std::vector<float> before(held.values<float>().begin(), held.values<float>().end());
  const PackedWeight in_place(std::move(alone)), beside(std::move(held));
  EXPECT_SAME_BITS(copy.values<float>(), before);
  EXPECT_SAME_BITS(packed_linear(x, in_place).values<float>(), packed_linear(x, beside).values<float>());
}

TEST(PackedLinear, RefusesWhatDoesNotFitAndNamesIt) {
  const PackedWeight w(normal_tensor({4, 3}, 1));
  EXPECT_TRUE(throws_saying<UsageError>([&] { packed_linear(Tensor(), w); }, {"packed_linear", "undefined"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { packed_linear(normal_tensor({2, 4}, 1), w); }, {"[2, 4]", "[4, 3]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { packed_linear(normal_tensor({2, 3}, 1).to(DType::f64), w); }, {"float32"}));
  EXPECT_TRUE(throws_saying<UsageError>(
      [&] {
        packed_linear(normal_tensor({2, 3}, 1), w, normal_tensor({3}, 1));
      },
      {"bias", "[3]", "[4]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { packed_linear(normal_tensor({2, 3}, 1), PackedWeight()); }, {"undefined"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { PackedWeight(normal_tensor({5}, 1)); }, {"PackedWeight", "[5]", "[out, in]"}));
}

}  // namespace
}  // namespace addnorm
