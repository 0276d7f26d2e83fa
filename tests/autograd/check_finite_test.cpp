// CheckFinite and NameScope: the first NaN or infinity is named with op, path and element, and watching changes no bit.
#include <cmath>
#include <optional>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::normal_tensor;
using test::throws_saying;

/// y = x; the gradient has a NaN at element 1, or is multiplied by a factor.
Var bad_gradient(const Var& x, float factor = 0) {
  return record("bad", {x}, x.value().clone(), [factor](const Tensor& dy, Grads& grads) {
    Tensor dx = dy.clone();
    for (float& d : dx.values<float>()) d *= factor;
    if (factor == 0) dx.values<float>()[1] = std::nanf("");
    grads.give(0, dx);
  });
}

TEST(CheckFinite, NamesOpPathAndElementOfAResult) {
  const CheckFinite check;
  const Var x(Tensor::of({2, 3}, {1.0f, 2.0f, 3.0f, 3e38f, 5.0f, 6.0f}), true);
  const NameScope outer("blocks.3");
  {
    const NameScope inner("attn");
    EXPECT_TRUE(
        throws_saying<NumericsError>([&] { mul(x, x); }, {"result of op 'mul' in blocks.3/attn", "inf", "element 3 of [2, 3]"}));
  }
  EXPECT_TRUE(throws_saying<NumericsError>([&] { mul(x, x); }, {"op 'mul' in blocks.3 is inf"}));
  const NoGrad no_grad;
  EXPECT_TRUE(throws_saying<NumericsError>([&] { mul(x, x); }, {"op 'mul' in blocks.3 is inf"}));
}

TEST(CheckFinite, NamesOpPathAndElementOfAGradientThoughEveryResultIsFine) {
  const Var x(Tensor::of({3}, {1.0f, 2.0f, 3.0f}), true);
  Var y;
  {
    const NameScope scope("blocks.7/ffn");
    y = bad_gradient(mul(x, x));
  }
  const CheckFinite check;
  EXPECT_TRUE(throws_saying<NumericsError>([&] { backward(y, Tensor::full({3}, 1.0)); },
                                           {"gradient for input 0 of op 'bad' in blocks.7/ffn is nan at element 1 of [3]"}));
  EXPECT_FALSE(x.grad().defined());
}

TEST(CheckFinite, NamesThePathInsideARecomputedPart) {
  const Var x(Tensor::of({3}, {1.0f, 2.0f, 3.0f}), true);
  std::vector<Var> y;
  {
    const NameScope scope("blocks.2");
    y = recompute(
        [](const std::vector<Var>& in) {
          const NameScope inner("attn");
          return std::vector{bad_gradient(in[0])};
        },
        {x});
  }
  const CheckFinite check;
  EXPECT_TRUE(throws_saying<NumericsError>([&] { backward(y[0], Tensor::full({3}, 1.0)); }, {"op 'bad' in blocks.2/attn"}));
}

TEST(CheckFinite, SeesTheSumOfTwoFiniteGradientsOverflow) {
  const Var x(Tensor::of({2}, {1.0f, 2.0f}), true);
  const CheckFinite check;
  EXPECT_TRUE(
      throws_saying<NumericsError>([&] { backward(add(bad_gradient(x, 3e38f), bad_gradient(x, 3e38f)), Tensor::full({2}, 1.0)); },
                                   {"sum of gradients for input 0 of op 'bad'", "inf", "element 0 of [2]"}));
}

/// Two gradients of 3e38 meet at `middle`.
void overflow_at(const Var& middle) {
  backward(add(bad_gradient(middle, 3e38f), bad_gradient(middle, 3e38f)), Tensor::full({2}, 1.0));
}

TEST(CheckFinite, SeesGradientsOverflowWhereTheyMeetAtAComputedValue) {
  const Var x(Tensor::of({2}, {1.0f, 2.0f}), true), c(Tensor::full({2}, -1.0));
  const auto negative = [&] { return relu(mul(x, c)); };
  // An op that passes nothing on: the infinity reaches no leaf.
  const auto deaf = [&] {
    return record("deaf", {x}, x.value().clone(), [](const Tensor&, Grads& grads) { grads.give(0, Tensor::zeros({2})); });
  };
  overflow_at(deaf());
  EXPECT_EQ(x.grad().values<float>()[0], 0.0f);
  const CheckFinite check;
  EXPECT_TRUE(throws_saying<NumericsError>([&] { overflow_at(negative()); },
                                           {"gradient arriving at output 0 of op 'relu' is inf at element 0 of [2]"}));
  EXPECT_TRUE(throws_saying<NumericsError>([&] { overflow_at(deaf()); }, {"arriving at output 0 of op 'deaf' is inf"}));
}

TEST(CheckFinite, SeesANaNInTheGradientThatTheCallerGives) {
  const Var x(Tensor::of({2}, {1.0f, 2.0f}), true), c(Tensor::full({2}, -1.0));
  const Tensor dy = Tensor::of({2}, {1.0f, std::nanf("")});
  const CheckFinite check;
  EXPECT_TRUE(throws_saying<NumericsError>([&] { backward(relu(mul(x, c)), dy); },
                                           {"gradient arriving at output 0 of op 'relu' is nan at element 1 of [2]"}));
  EXPECT_TRUE(throws_saying<NumericsError>([&] { backward(x, dy); }, {"gradient arriving at output 0 of backward", "nan"}));
  EXPECT_FALSE(x.grad().defined());
}

TEST(CheckFinite, AFailedCheckLeavesNothingForTheNextPass) {
  const Var x(Tensor::of({1}, {3.0f}), true);
  const Var y = mul(x, x);
  {
    const CheckFinite check;
    EXPECT_THROW(backward(y, Tensor::full({1}, std::nan("")), {.keep_graph = true}), NumericsError);
  }
  backward(y, Tensor::full({1}, 1.0));
  EXPECT_EQ(x.grad().item(), 6.0);
}

TEST(CheckFinite, WithoutItNothingIsChecked) {
  const Var x(Tensor::of({2}, {1.0f, 2.0f}), true);
  { const CheckFinite check; }
  backward(bad_gradient(x), Tensor::full({2}, 1.0));
  EXPECT_TRUE(std::isnan(x.grad().values<float>()[1]));
}

/// Two small residual blocks: result, and gradients of x and the parameters.
std::vector<Tensor> run(bool watched) {
  std::optional<CheckFinite> check;
  if (watched) check.emplace();
  const Var x(normal_tensor({20, 33}, 1), true), gamma(normal_tensor({33}, 2), true), beta(normal_tensor({33}, 3), true);
  Var stream = x;
  for (int i = 0; i < 2; ++i) {
    std::optional<NameScope> scope;
    if (watched) scope.emplace(concat("blocks.", i));
    const auto step = add_layer_norm(stream, gelu(stream), gamma, beta);
    stream = add(step.sum, dropout(mul(step.y, stream), 0.2f, RandomKey(3)));
  }
  backward(mean(stream));
  return {stream.value(), x.grad(), gamma.grad(), beta.grad()};
}

TEST(CheckFinite, N19_WatchingChangesNoBit) {
  const auto plain = run(false), watched = run(true);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_SAME_BITS(watched[i].values<float>(), plain[i].values<float>());
}

}  // namespace
}  // namespace addnorm
