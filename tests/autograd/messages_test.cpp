// What errors say beyond naming the mistake: the scope, what was probably meant, and why a gradient is not there.
#include <memory>
#include <thread>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/graph.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::normal_tensor;
using test::throws_saying;

Var random_leaf(const Shape& shape) { return Var(normal_tensor(shape, 1), true); }
Var constant(const Shape& shape, DType dtype = DType::f32) { return Var(normal_tensor(shape, 2, dtype)); }

TEST(Messages, BackwardUnderOrAfterNoGradSaysThatNothingWasRecorded) {
  const Var x = random_leaf({1});
  Var y;
  {
    const NoGrad no_grad;
    y = mul(x, x);
    EXPECT_TRUE(throws_saying<UsageError>([&] { backward(y); }, {"output 0", "computed under NoGrad", "outside of it"}));
  }
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(y); }, {"output 0", "computed under NoGrad", "outside of it"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(mul(y, y)); }, {"does not depend", "Var(tensor, true)"}))
      << "y is a constant by now";
}

TEST(Messages, SeveralOpsUnderNoGradSayTheSameAsOne) {
  const Var x = constant({2, 3}), w = random_leaf({4, 3});
  Var loss, untouched;
  {
    const NoGrad no_grad;
    loss = mean(linear(x, w, Var()));
    untouched = mean(mul(x, x));
  }
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(loss); }, {"output 0", "computed under NoGrad", "outside of it"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(untouched); }, {"does not depend", "Var(tensor, true)"}))
      << "nothing would have been recorded outside of it either";
}

TEST(Messages, ConstantsAreNotCalledLeavesWhenTheyWereComputed) {
  const Var x = constant({1});
  EXPECT_FALSE(throws_saying<UsageError>([&] { backward(mul(x, x)); }, {"op 'leaf'"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(mul(x, x)); }, {"backward: output 0 does not depend on anything"}));
}

TEST(Messages, AGradientThatIsNotThereSaysThatNoBackwardReachedIt) {
  const std::initializer_list<std::string> said{"undefined",    "moved from",   "grad()", "no backward has reached",
                                                "clear_grad()", "retain_grad()"};
  const Var x = random_leaf({2});
  EXPECT_TRUE(throws_saying<UsageError>([&] { x.grad().values<float>(); }, said));
  EXPECT_TRUE(throws_saying<UsageError>([&] { x.grad().clone(); }, said));
  EXPECT_TRUE(throws_saying<UsageError>([&] { x.grad().item(); }, said));
  EXPECT_TRUE(throws_saying<UsageError>([&] { x.grad().reshape({2}); }, said));
  EXPECT_TRUE(throws_saying<UsageError>([&] { x.grad().to(DType::f64); }, said));
}

TEST(Messages, AVarWithoutAValueSaysHowThatCameAbout) {
  Var x = random_leaf({2});
  const Var y = std::move(x);
  EXPECT_TRUE(throws_saying<UsageError>([&] { x.value(); }, {"Var", "made by default or moved from"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { x.grad(); }, {"Var::grad", "made by default or moved from"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { add(x, y); }, {"add: a is an undefined Var", "moved from"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Var{Tensor()}; }, {"Var: the tensor is undefined", "Tensor::zeros"}));
  EXPECT_TRUE(
      throws_saying<UsageError>([] { constant({2}).retain_grad(); }, {"Var::retain_grad", "Var(tensor, true)", "NoGrad"}));
}

TEST(Messages, OneRowForManyIsAnsweredWithTheOpThatDoesIt) {
  const Var x = constant({3, 4}), row = constant({4}), one = constant({1}), other = constant({5});
  EXPECT_TRUE(throws_saying<UsageError>([&] { add(x, row); }, {"add: a is [3, 4], b is [4]", "add_bias(a, b)"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { add(row, x); }, {"add: a is [4], b is [3, 4]", "add_bias(b, a)"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { sub(x, row); }, {"sub: a is [3, 4], b is [4]", "add_bias(a, scale(b, -1))"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { mul(x, row); }, {"mul: a is [3, 4], b is [4]", "mul_row(a, b)"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { mul(row, x); }, {"mul: a is [4], b is [3, 4]", "mul_row(b, a)"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { mul(x, one); }, {"mul: a is [3, 4], b is [1]", "mul_scalar(a, b)"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { mul(one, x); }, {"mul: a is [1], b is [3, 4]", "mul_scalar(b, a)"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { add(x, other); }, {"add: a is [3, 4], b is [5]", "must be equal"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { sub(row, x); }, {"sub: a is [4], b is [3, 4]", "must be equal"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { swiglu(x, row); }, {"swiglu: a is [3, 4], b is [4]", "must be equal"}));
}

TEST(Messages, WhatIsHintedAtWorks) {
  const Var x = constant({3, 4}), row = constant({4}), one = constant({1});
  EXPECT_NO_THROW(add_bias(x, scale(row, -1)));
  EXPECT_NO_THROW(mul_row(x, row));
  EXPECT_NO_THROW(mul_scalar(x, one));
}

TEST(Messages, DTypesThatDisagreeAreAnsweredWithTheConversion) {
  const Var x = constant({3, 4}), wide = constant({3, 4}, DType::f64), wide_row = constant({4}, DType::f64);
  const std::string hint = "convert one Tensor with to(DType::f32) or to(DType::f64)";
  EXPECT_TRUE(throws_saying<UsageError>([&] { add(x, wide); }, {"add: a is float32, b is float64", hint}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { layer_norm(x, wide_row, Var()); }, {"gamma is float64, x is float32", hint}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { concat({x, wide}, 0); }, {"part 1 is float64, part 0 is float32", hint}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { weighted_sum({x}, Var(Tensor::full({1}, 1, DType::f64))); }, {hint}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { matmul(x, constant({4, 2}, DType::f64)); }, {hint}));
}

TEST(Messages, NameTheScopeTheyWereRaisedIn) {
  const Var x = constant({3, 4}), other = constant({5});
  const NameScope outer("blocks.3");
  {
    const NameScope inner("attn");
    EXPECT_TRUE(throws_saying<UsageError>([&] { add(x, other); }, {"add: a is [3, 4]", "(in blocks.3/attn)"}));
    EXPECT_TRUE(throws_saying<UsageError>([&] { layer_norm(x, other, Var()); }, {"(in blocks.3/attn)"}));
    EXPECT_TRUE(throws_saying<UsageError>([&] { Tensor::of({3}, {1.0f}); }, {"[3]", "(in blocks.3/attn)"}));
    EXPECT_TRUE(throws_saying<UsageError>([&] { x.shape()[7]; }, {"axis 7", "(in blocks.3/attn)"}));
    EXPECT_TRUE(throws_saying<Error>([&] { Tensor t({std::size_t{1} << 50}); }, {"out of memory", "(in blocks.3/attn)"}));
  }
  EXPECT_TRUE(throws_saying<UsageError>([&] { add(x, other); }, {"(in blocks.3)"}));
}

TEST(Messages, NameTheScopeOfARecomputedPart) {
  const Var x = random_leaf({2});
  int runs = 0;
  std::vector<Var> y;
  {
    const NameScope scope("blocks.2");
    y = recompute([&runs](const std::vector<Var>& in) { return std::vector{++runs == 1 ? in[0] : add(in[0], constant({5}))}; },
                  {x});
  }
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(y[0], Tensor::full({2}, 1.0)); }, {"add: a is [2]", "(in blocks.2)"}));
  EXPECT_FALSE(throws_saying<UsageError>([&] { add(x, constant({5})); }, {"(in"})) << "the scope ended with the error";
}

TEST(Scopes, OfRecordingMayEndInAnyOrder) {
  auto first = std::make_unique<NoGrad>();
  auto second = std::make_unique<NoGrad>();
  first.reset();
  EXPECT_FALSE(grad_enabled());
  second.reset();
  EXPECT_TRUE(grad_enabled());

  auto check_first = std::make_unique<CheckFinite>();
  auto check_second = std::make_unique<CheckFinite>();
  check_first.reset();
  const Var huge(Tensor::full({1}, 3e38));
  EXPECT_THROW(mul(huge, huge), NumericsError);
  check_second.reset();
  EXPECT_NO_THROW(mul(huge, huge));

  auto outer = std::make_unique<NameScope>("outer");
  auto inner = std::make_unique<NameScope>("inner");
  outer.reset();
  inner.reset();
  EXPECT_FALSE(throws_saying<UsageError>([&] { add(huge, constant({5})); }, {"(in"}));
}

TEST(Scopes, OfNamesThatEndLateLeaveTheOnesOpenedSinceAlone) {
  auto outer = std::make_unique<NameScope>("outer");
  auto inner = std::make_unique<NameScope>("attn");
  outer.reset();
  const NameScope next("blocks.3/ffn");
  inner.reset();
  EXPECT_TRUE(throws_saying<UsageError>([] { add(constant({2}), constant({5})); }, {"(in blocks.3/ffn)"}));
}

TEST(Scopes, OfNamesMakeTheirPathOnceForAllOpsInside) {
  const NameScope outer("blocks.3");
  const auto path = detail::current_path();
  EXPECT_EQ(detail::current_path(), path);
  {
    const NameScope inner("attn");
    EXPECT_EQ(*detail::current_path(), "blocks.3/attn");
    EXPECT_EQ(detail::current_path(), detail::current_path());
  }
  EXPECT_EQ(*detail::current_path(), "blocks.3");
  EXPECT_EQ(*path, "blocks.3");
}

TEST(Scopes, OfRecordingThatEndOnTheWrongThreadSwitchNothingThere) {
  std::unique_ptr<NoGrad> no_grad;
  std::unique_ptr<CheckFinite> check;
  std::thread([&] {
    no_grad = std::make_unique<NoGrad>();
    check = std::make_unique<CheckFinite>();
  }).join();
  std::thread([&] {
    no_grad.reset();
    check.reset();
    EXPECT_TRUE(grad_enabled());
    const Var huge(Tensor::full({1}, 3e38));
    EXPECT_NO_THROW(mul(huge, huge));
  }).join();
}

}  // namespace
}  // namespace addnorm
