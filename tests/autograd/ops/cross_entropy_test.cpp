#include <cmath>
#include <limits>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "support/gradients.h"

namespace addnorm {
namespace {

using test::input;
using test::throws_saying;

const std::vector<std::int32_t> kTargets{1, 0, -100, 3};

TEST(SoftmaxGradients, AgreeWithDifferences) {
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{softmax(in[0])}; }, input({2, 3, 5}, 1));
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{log_softmax(in[0])}; }, input({2, 3, 5}, 2));
}

TEST(CrossEntropyGradients, AgreeWithDifferencesForEveryReductionWeightAndSmoothing) {
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
    for (const double smoothing : {0.0, 0.2}) {
      CrossEntropyOptions options{.label_smoothing = smoothing, .reduction = reduction};
      const auto fn = [&](const auto& in) { return std::vector{cross_entropy(in[0], kTargets, options)}; };
      EXPECT_GRADIENTS(fn, input({2, 2, 5}, 1));
      options.class_weights = Tensor::of({5}, {0.5f, 2, 0, 1, 3}).to(DType::f64);
      EXPECT_GRADIENTS(fn, input({4, 5}, 2));
    }
  }
}

TEST(CrossEntropyOp, MeansOverTheRowsThatCount) {
  const Tensor logits = test::normal_tensor({4, 5}, 3);
  const Var each = cross_entropy(Var(logits), kTargets, {.reduction = Reduction::none});
  EXPECT_EQ(each.shape(), (Shape{4}));
  double sum = 0;
  for (const float loss : each.value().values<float>()) sum += static_cast<double>(loss);
  EXPECT_NEAR_ALL(cross_entropy(Var(logits), kTargets).value(), Tensor::full({}, sum / 3), test::elementwise_tolerance());
  EXPECT_NEAR_ALL(cross_entropy(Var(logits), kTargets, {.reduction = Reduction::sum}).value(), Tensor::full({}, sum),
                  test::elementwise_tolerance());
}

TEST(CrossEntropyOp, IsZeroWithZeroGradientWhenNoRowCounts) {
  const Var logits(Tensor::full({2, 3}, std::numeric_limits<double>::quiet_NaN()), true);
  const Var loss = cross_entropy(logits, std::vector<std::int32_t>{-100, -100});
  EXPECT_EQ(loss.value().item(), 0);
  backward(loss);
  EXPECT_NEAR_ALL(logits.grad(), Tensor::zeros({2, 3}), test::exact());
  const Var nothing(Tensor({0, 3}), true);
  EXPECT_EQ(cross_entropy(nothing, {}).value().item(), 0);
}

TEST(CrossEntropyOp, ScalesWithTheUpstreamGradientAndCanRunBackwardTwice) {
  const Var logits(test::normal_tensor({4, 5}, 3), true);
  const Var loss = cross_entropy(logits, kTargets);
  backward(loss, {.keep_graph = true});
  const Tensor once = logits.grad().clone();
  backward(loss, Tensor::full({}, 2.0));
  Tensor three(once.shape());
  for (std::size_t i = 0; i < once.elements(); ++i) three.data<float>()[i] = once.data<float>()[i] * 3;
  EXPECT_NEAR_ALL(logits.grad(), three, test::elementwise_tolerance());
}

TEST(CrossEntropyOp, ScalesTheGradientOfEachRowWithItsOwnUpstreamGradient) {
  const std::size_t rows = 40, classes = 1000;  // several blocks of rows
  const std::vector<std::int32_t> targets(rows, 7);
  const Tensor logits = test::normal_tensor({rows, classes}, 3), dy = test::normal_tensor({rows}, 4);
  const Var together(logits, true), apart(logits, true);
  backward(cross_entropy(together, targets, {.reduction = Reduction::sum}));
  backward(cross_entropy(apart, targets, {.reduction = Reduction::none}), dy);
  Tensor want = together.grad().clone();
  for (std::size_t i = 0; i < want.elements(); ++i) want.data<float>()[i] *= dy.data<float>()[i / classes];
  EXPECT_SAME_BITS(apart.grad().values<float>(), want.values<float>());
}

TEST(CrossEntropyOp, RefusesTargetsAndOptionsThatCannotBe) {
  const Var logits(test::normal_tensor({2, 3}, 1));
  const std::vector<std::int32_t> good{0, 1};
  EXPECT_TRUE(throws_saying<UsageError>(
      [&] {
        cross_entropy(logits, std::vector<std::int32_t>{0, 3});
      },
      {"target 1 is 3", "0 to 2"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { cross_entropy(logits, std::vector<std::int32_t>{-1, 0}); }, {"target 0 is -1"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { cross_entropy(logits, std::vector<std::int32_t>{0}); }, {"1 targets", "[2, 3]"}));
  EXPECT_TRUE(
      throws_saying<UsageError>([&] { cross_entropy(logits, good, {.label_smoothing = 1.5}); }, {"label_smoothing is 1.5"}));
  EXPECT_TRUE(
      throws_saying<UsageError>([&] { cross_entropy(logits, good, {.label_smoothing = std::nan("")}); }, {"label_smoothing"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { cross_entropy(logits, good, {.class_weights = Tensor({4})}); }, {"[4]", "[2, 3]"}));
  EXPECT_TRUE(throws_saying<UsageError>(
      [&] {
        cross_entropy(logits, good, {.class_weights = Tensor::of({3}, {1, -2, 1})});
      },
      {"class 1", "-2"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { cross_entropy(Var(), good); }, {"cross_entropy", "undefined"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { cross_entropy(Var(Tensor({2, 0})), good); }, {"[2, 0]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { softmax(Var(Tensor(Shape{}))); }, {"softmax", "scalar"}));
}

}  // namespace
}  // namespace addnorm
