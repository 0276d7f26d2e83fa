// linear and matmul: values, gradients of every input in double, float gradients against double, misuse.
#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "support/gradients.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::input;
using test::normal_tensor;
using test::throws_saying;

constexpr LinearActivation kActivations[] = {LinearActivation::none, LinearActivation::relu, LinearActivation::gelu,
                                             LinearActivation::gelu_tanh, LinearActivation::silu};

TEST(Matmul, HasTheGradientsOfFiniteDifferences) {
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{matmul(in[0], in[1])}; }, input({3, 5}, 1), input({5, 4}, 2));
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{matmul(in[0], in[1])}; }, input({2, 3, 5}, 1), input({5, 4}, 2));
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{matmul(in[0], in[1])}; }, input({5}, 1), input({5, 4}, 2));
}

TEST(Linear, HasTheGradientsOfFiniteDifferencesWithEveryActivation) {
  for (const LinearActivation activation : kActivations) {
    SCOPED_TRACE(static_cast<int>(activation));
    EXPECT_GRADIENTS([=](const auto& in) { return std::vector{linear(in[0], in[1], in[2], activation)}; }, input({2, 3, 5}, 1),
                     input({4, 5}, 2), input({4}, 3));
    EXPECT_GRADIENTS([=](const auto& in) { return std::vector{linear(in[0], in[1], Var(), activation)}; }, input({3, 5}, 1),
                     input({4, 5}, 2));
  }
}

TEST(Matmul, FoldsLeadingAxesIntoRows) {
  const Var a(Tensor::of({2, 1, 2}, {1, 2, 3, 4})), b(Tensor::of({2, 3}, {1, 0, 2, 0, 1, 3}));
  const Var y = matmul(a, b);
  EXPECT_EQ(y.shape(), (Shape{2, 1, 3}));
  EXPECT_NEAR_ALL(y.value(), Tensor::of({2, 1, 3}, {1, 2, 8, 3, 4, 18}), test::exact());
}

TEST(Linear, MultipliesByTheTransposedWeightAndAddsTheBias) {
  const Var x(Tensor::of({2, 2}, {1, 2, 3, 4})), w(Tensor::of({3, 2}, {1, 0, 0, 1, 2, 3})), bias(Tensor::of({3}, {10, 20, -30}));
  EXPECT_NEAR_ALL(linear(x, w, bias).value(), Tensor::of({2, 3}, {11, 22, -22, 13, 24, -12}), test::exact());
  EXPECT_NEAR_ALL(linear(x, w, bias, LinearActivation::relu).value(), Tensor::of({2, 3}, {11, 22, 0, 13, 24, 0}), test::exact());
}

Var composed(const Var& x, const Var& w, const Var& bias, LinearActivation activation) {
  const Var h = linear(x, w, bias);
  switch (activation) {
    case LinearActivation::relu:
      return relu(h);
    case LinearActivation::gelu:
      return gelu(h);
    case LinearActivation::gelu_tanh:
      return gelu(h, GeluForm::tanh);
    case LinearActivation::silu:
      return silu(h);
    default:
      return h;
  }
}

struct Outcome {
  Tensor y, dx, dw, dbias;
};
template <class Op>
Outcome run(Op op, std::size_t rows, std::size_t in, std::size_t out, LinearActivation activation, DType dtype = DType::f32) {
  const Var x(normal_tensor({rows, in}, 1, dtype), true), w(normal_tensor({out, in}, 2, dtype), true),
      bias(normal_tensor({out}, 3, dtype), true);
  const Var y = op(x, w, bias, activation);
  backward(y, normal_tensor({rows, out}, 4, dtype));
  return {y.value(), x.grad(), w.grad(), bias.grad()};
}

void expect_same_bits(const Outcome& a, const Outcome& b) {
  EXPECT_SAME_BITS(a.y.values<float>(), b.y.values<float>());
  EXPECT_SAME_BITS(a.dx.values<float>(), b.dx.values<float>());
  EXPECT_SAME_BITS(a.dw.values<float>(), b.dw.values<float>());
  EXPECT_SAME_BITS(a.dbias.values<float>(), b.dbias.values<float>());
}

TEST(Linear, WithAnActivationEqualsTheTwoOpsBitForBit) {
  for (const LinearActivation activation : kActivations)
    for (const std::size_t rows : {1u, 3u, 30u, 131u}) {
      SCOPED_TRACE(testing::Message() << "activation " << static_cast<int>(activation) << " rows " << rows);
      expect_same_bits(run(linear, rows, 33, 70, activation), run(composed, rows, 33, 70, activation));
    }
}

TEST(Linear, GivesTheSameBitsForEveryNumberOfThreads) {
  for (const std::size_t rows : {1u, 40u, 300u}) {
    SCOPED_TRACE(rows);
    std::vector<Outcome> runs;
    test::with_every_thread_count([&] { runs.push_back(run(linear, rows, 120, 400, LinearActivation::gelu)); });
    for (const Outcome& other : runs) expect_same_bits(runs[0], other);
  }
}

TEST(Linear, FollowsTheDoubleReference) {
  constexpr std::size_t kRows = 150, kIn = 65, kOut = 130;
  for (const LinearActivation activation : kActivations) {
    if (activation == LinearActivation::relu) continue;  // its slope jumps: a rounding may change the side
    SCOPED_TRACE(static_cast<int>(activation));
    const Outcome got = run(linear, kRows, kIn, kOut, activation), want = run(linear, kRows, kIn, kOut, activation, DType::f64);
    EXPECT_NEAR_ALL(got.y, want.y, test::product_tolerance(kIn));
    EXPECT_NEAR_ALL(got.dx, want.dx, test::product_tolerance(kOut + kIn));
    EXPECT_NEAR_ALL(got.dw, want.dw, test::product_tolerance(kRows + kIn));
    EXPECT_NEAR_ALL(got.dbias, want.dbias, test::product_tolerance(kRows + kIn));
  }
}

TEST(Linear, OfNoRowsGivesNoRowsAndZeroGradients) {
  const Outcome empty = run(linear, 0, 3, 4, LinearActivation::gelu);
  EXPECT_EQ(empty.y.shape(), (Shape{0, 4}));
  EXPECT_NEAR_ALL(empty.dw, Tensor::zeros({4, 3}), test::exact());
  EXPECT_NEAR_ALL(empty.dbias, Tensor::zeros({4}), test::exact());
}

TEST(Linear, RefusesShapesThatDisagreeAndNamesBoth) {
  const Var x(Tensor::zeros({2, 7})), w(Tensor::zeros({3, 8})), square(Tensor::zeros({3, 7}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { linear(x, w); }, {"linear", "[2, 7]", "[3, 8]"}));
  EXPECT_TRUE(
      throws_saying<UsageError>([&] { linear(x, square, Var(Tensor::zeros({7}))); }, {"linear", "bias", "[7]", "[3, 7]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { linear(x, Var(Tensor::zeros({7}))); }, {"linear", "[7]", "[out, in]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { linear(Var(), w); }, {"linear", "x"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { linear(x, Var()); }, {"linear", "w"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { linear(x, Var(Tensor::zeros({3, 7}, DType::f64))); }, {"float32", "float64"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { linear(x, square, Var(), static_cast<LinearActivation>(9)); }, {"linear", "9"}));
}

TEST(Matmul, RefusesShapesThatDisagreeAndNamesBoth) {
  const Var a(Tensor::zeros({2, 7})), b(Tensor::zeros({8, 3}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { matmul(a, b); }, {"matmul", "[2, 7]", "[8, 3]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { matmul(a, Var(Tensor::zeros({7}))); }, {"matmul", "[7]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { matmul(Var(Tensor::zeros({})), b); }, {"matmul", "[]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { matmul(Var(), b); }, {"matmul", "a"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { matmul(a, Var()); }, {"matmul", "b"}));
}

}  // namespace
}  // namespace addnorm
