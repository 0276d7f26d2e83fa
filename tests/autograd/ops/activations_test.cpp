#include <cmath>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "support/gradients.h"

namespace addnorm {
namespace {

using test::input;
using test::throws_saying;

TEST(ActivationGradients, AgreeWithDifferences) {
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{gelu(in[0])}; }, input({3, 5}, 1));
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{gelu(in[0], GeluForm::tanh)}; }, input({3, 5}, 2));
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{relu(in[0])}; }, input({3, 5}, 3));
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{silu(in[0])}; }, input({3, 5}, 4));
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{sigmoid(in[0])}; }, input({3, 5}, 5));
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{tanh(in[0])}; }, input({3, 5}, 6));
}

TEST(SwigluGradients, AgreeWithDifferencesInBothForms) {
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{swiglu(in[0], in[1])}; }, input({2, 3, 5}, 1), input({2, 3, 5}, 2));
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{swiglu(in[0])}; }, input({2, 3, 10}, 3));
}

TEST(Swiglu, GatesWithTheFirstHalf) {
  const Tensor packed = Tensor::of({1, 4}, {1, 2, 3, -4});
  const Tensor a = Tensor::of({1, 2}, {1, 2}), b = Tensor::of({1, 2}, {3, -4});
  const Var y = swiglu(Var(packed));
  EXPECT_EQ(y.shape(), (Shape{1, 2}));
  EXPECT_SAME_BITS(y.value().values<float>(), swiglu(Var(a), Var(b)).value().values<float>());
  EXPECT_NEAR_ALL(y.value().values<float>(), (std::vector<double>{3 / (1 + std::exp(-1.0)), -8 / (1 + std::exp(-2.0))}),
                  test::elementwise_tolerance());
}

TEST(Swiglu, OneGradientAloneHasTheBitsItHasBesideTheOther) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor a = test::normal_tensor({7, 33}, 1, dtype), b = test::normal_tensor({7, 33}, 2, dtype);
    const Tensor dy = test::normal_tensor({7, 33}, 3, dtype);
    const Var both_a(a, true), both_b(b, true), only_a(a, true), only_b(b, true);
    backward(swiglu(both_a, both_b), dy);
    backward(swiglu(only_a, Var(b)), dy);
    backward(swiglu(Var(a), only_b), dy);
    EXPECT_NEAR_ALL(only_a.grad(), both_a.grad(), test::exact());
    EXPECT_NEAR_ALL(only_b.grad(), both_b.grad(), test::exact());
  }
}

TEST(Dyt, OneGradientAloneHasTheBitsItHasBesideTheOthers) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor values[] = {test::normal_tensor({70, 33}, 1, dtype), test::normal_tensor({1}, 2, dtype),
                             test::normal_tensor({33}, 3, dtype), test::normal_tensor({33}, 4, dtype)};
    const Tensor dy = test::normal_tensor({70, 33}, 5, dtype);
    const auto gradients = [&](auto wants) {
      std::vector<Var> in;
      for (std::size_t i = 0; i < 4; ++i) in.emplace_back(values[i], wants(i));
      backward(dyt(in[0], in[1], in[2], in[3]), dy);
      return in;
    };
    const auto all = gradients([](std::size_t) { return true; });
    for (std::size_t alone = 0; alone < 4; ++alone) {
      const auto one = gradients([&](std::size_t i) { return i == alone; });
      EXPECT_NEAR_ALL(one[alone].grad(), all[alone].grad(), test::exact()) << "input " << alone;
    }
  }
}

TEST(Activations, RunOnScalarsAndOnNothing) {
  EXPECT_EQ(relu(Var(Tensor::full({}, -2.0))).value().item(), 0);
  EXPECT_EQ(gelu(Var(Tensor({0, 7}))).shape(), (Shape{0, 7}));
  EXPECT_EQ(swiglu(Var(Tensor({3, 0}))).shape(), (Shape{3, 0}));
}

TEST(Activations, RefuseWhatTheyCannotMean) {
  EXPECT_TRUE(throws_saying<UsageError>([] { gelu(Var()); }, {"gelu", "undefined"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { swiglu(Var(Tensor({2, 3}))); }, {"swiglu", "[2, 3]", "even"}));
  EXPECT_TRUE(throws_saying<UsageError>(
      [] {
        swiglu(Var(Tensor({2, 3})), Var(Tensor({2, 4})));
      },
      {"swiglu", "[2, 3]", "[2, 4]"}));
  EXPECT_TRUE(throws_saying<UsageError>(
      [] {
        swiglu(Var(Tensor({2, 3})), Var(Tensor({2, 3}, DType::f64)));
      },
      {"swiglu", "float32", "float64"}));
}

}  // namespace
}  // namespace addnorm
