// What stays alive until backward: what an op's closure reads, and nothing else; and what the arena sees of it.
#include <utility>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/tensor/arena.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::normal_tensor;

Var leaf(const Shape& shape, std::uint64_t seed = 1) { return Var(normal_tensor(shape, seed), true); }

/// The value that went through `use` is held by nobody else once the caller lets go of it, although the result is alive.
template <class Use>
testing::AssertionResult is_released_by(const Shape& shape, Use use) {
  const Var x = leaf(shape);
  Var computed = scale(x, 2);
  const Tensor held = computed.value();
  const auto result = use(computed, x);
  computed = Var();
  if (!held.unique()) return testing::AssertionFailure() << "something that was recorded keeps the input alive";
  return testing::AssertionSuccess();
}

TEST(Memory, AnInputThatBackwardDoesNotReadIsReleased) {
  const std::vector<std::int32_t> targets{0, 4, 2};
  EXPECT_TRUE(is_released_by({3, 5}, [](const Var& f, const Var& x) { return add(f, x); }));
  EXPECT_TRUE(is_released_by({3, 5}, [](const Var& f, const Var& x) { return sub(x, f); }));
  EXPECT_TRUE(is_released_by({3, 5}, [](const Var& f, const Var&) { return scale(f, 3); }));
  EXPECT_TRUE(is_released_by({3, 5}, [](const Var& f, const Var&) { return sum(f); }));
  EXPECT_TRUE(is_released_by({3, 5}, [](const Var& f, const Var& x) { return concat({f, x}, 0); }));
  EXPECT_TRUE(is_released_by({3, 5}, [](const Var& f, const Var&) { return dropout(f, 0.3f, RandomKey(1)); }));
  EXPECT_TRUE(is_released_by({3, 5}, [](const Var& f, const Var&) { return softmax(f); }));
  EXPECT_TRUE(is_released_by({3, 5}, [&](const Var& f, const Var&) { return cross_entropy(f, targets); }));
  EXPECT_TRUE(is_released_by({3, 5}, [](const Var& f, const Var& x) { return add_layer_norm(x, f, Var(), Var()); }));
  EXPECT_TRUE(is_released_by({3, 5}, [](const Var& f, const Var& x) { return add_rms_norm(f, x, Var()); }));
}

TEST(Memory, WhatBackwardReadsIsKept) {
  EXPECT_FALSE(is_released_by({3, 5}, [](const Var& f, const Var& x) { return mul(f, x); }));
  EXPECT_FALSE(is_released_by({3, 5}, [](const Var& f, const Var&) { return gelu(f); }));
}

/// Whether `use` lets go of a value that follows from what is kept anyway.
template <class Use>
bool is_computed_again(Var made, Use use) {
  const Tensor held = std::as_const(made).value();
  const Var y = use(made);
  made = Var();
  return held.unique();
}

TEST(Memory, AProductKeepsNeitherTheActivationNorTheNormInFrontOfIt) {
  const Var x = leaf({3, 5}), w = leaf({7, 5}), gamma = leaf({5});
  const Var up = leaf({5, 7});
  EXPECT_TRUE(is_computed_again(linear(x, w, Var(), LinearActivation::gelu), [&](const Var& f) { return linear(f, up); }));
  EXPECT_TRUE(is_computed_again(gelu(x), [&](const Var& f) { return linear(f, w); }));
  EXPECT_TRUE(is_computed_again(layer_norm(x, gamma, Var()), [&](const Var& f) { return linear(f, w); }));
  EXPECT_TRUE(is_computed_again(add_rms_norm(x, x, gamma).y, [&](const Var& f) { return linear(f, w); }));
  EXPECT_FALSE(is_computed_again(scale(x, 2), [&](const Var& f) { return linear(f, w); }));
}

TEST(Memory, AValueThatWasChangedIsKeptAsItIs) {
  Var x = leaf({2, 3}), w = leaf({1, 3});
  Var y = layer_norm(x, Var(), Var());
  for (float& v : y.value().values<float>()) v = 2;
  backward(linear(y, w), Tensor::full({2, 1}, 1.0));
  EXPECT_SAME_BITS(w.grad().values<float>(), (std::vector{4.0f, 4.0f, 4.0f}));
}

TEST(Memory, GradientsFlowThroughValuesThatAreGone) {
  const Var x(Tensor::of({2}, {3.0f, -1.0f}), true);
  Var f = mul(x, x), y = add(f, x);
  f = Var();
  backward(y, Tensor::of({2}, {1.0f, 2.0f}));
  EXPECT_SAME_BITS(x.grad().values<float>(), (std::vector{7.0f, -2.0f}));
}

/// How much more was in use at the worst moment of fn() than before it.
template <class Fn>
std::size_t extra_bytes(Fn fn) {
  const ArenaStats now = arena_stats();
  const Tensor up_to_the_peak({(now.peak_bytes - now.bytes_in_use) / sizeof(float) + 1});
  const std::size_t before = arena_stats().bytes_in_use;
  fn();
  return arena_stats().peak_bytes - before;
}

TEST(Memory, AGradientThatNobodyWantsTakesNone) {
  constexpr std::size_t kRows = 64, kWidth = 1024, kBytes = kRows * kWidth * sizeof(float);
  const Shape shape{kRows, kWidth};
  const Tensor dy = normal_tensor(shape, 9);
  const Var constant(normal_tensor(shape, 3));
  const Var a = swiglu(leaf(shape), constant), b = swiglu(constant, leaf(shape)), both = swiglu(leaf(shape), leaf(shape));
  EXPECT_LT(extra_bytes([&] { backward(a, dy); }), 2 * kBytes);
  EXPECT_LT(extra_bytes([&] { backward(b, dy); }), 2 * kBytes);
  EXPECT_GE(extra_bytes([&] { backward(both, dy); }), 2 * kBytes);
  const Var alpha = leaf({1});
  const Var parameters = dyt(constant, alpha, leaf({kWidth}), Var());
  EXPECT_LT(extra_bytes([&] { backward(parameters, dy); }), kBytes);
}

TEST(Memory, AChainOfSumsKeepsOnlyItsEnds) {
  const std::size_t before = arena_stats().bytes_in_use;
  const Var x = leaf({1024});
  Var y = x;
  for (int i = 0; i < 50; ++i) y = add(y, x);
  EXPECT_EQ(arena_stats().bytes_in_use - before, 2u * 4096);
}

/// Attention and a feed-forward part with a norm before each: the parameters, and one step of training them.
struct SmallBlock {
  static constexpr std::size_t kWidth = 32, kHidden = 96;
  std::vector<Var> parameters{
      leaf({3 * kWidth, kWidth}, 1), leaf({3 * kWidth}, 2), leaf({kWidth, kWidth}, 3), leaf({kWidth}, 4), leaf({kWidth}, 5),
      leaf({kHidden, kWidth}, 6),    leaf({kHidden}, 7),    leaf({kWidth, kHidden}, 8)};

  void step(const Tensor& data) {
    for (Var& p : parameters) p.clear_grad();
    const auto& p = parameters;
    const Var x(data);
    const Var qkv = linear(layer_norm(x, p[3], p[4]), p[0], p[1]);
    const auto [s, y] = add_layer_norm(x, linear(attention_packed(qkv, {.heads = 4, .causal = true}), p[2]), p[3], p[4]);
    const Var f = linear(linear(y, p[5], p[6], LinearActivation::gelu), p[7]);
    backward(mean(dropout(add(s, f), 0.1f, RandomKey(9))));
  }
};

TEST(Memory, TheArenaGrowsInTheFirstStepAndNeverAgain) {
  SmallBlock block;
  const Tensor data = normal_tensor({4, 24, SmallBlock::kWidth}, 20);
  block.step(data);
  const ArenaStats first = arena_stats();
  for (int i = 0; i < 3; ++i) {
    block.step(data);
    EXPECT_EQ(arena_stats().bytes_mapped, first.bytes_mapped);
    EXPECT_EQ(arena_stats().bytes_carved, first.bytes_carved);
    EXPECT_EQ(arena_stats().bytes_in_use, first.bytes_in_use);
  }
}

TEST(Memory, AnArenaScopeAroundAStepKeepsNothingAndLeavesTheGradientsReadable) {
  SmallBlock plain, scoped;
  const Tensor data = normal_tensor({4, 24, SmallBlock::kWidth}, 20);
  for (int i = 0; i < 2; ++i) {
    plain.step(data);
    const ArenaScope scope;
    scoped.step(data);
    EXPECT_EQ(scope.bytes_alive(), 0u);
  }
  for (std::size_t i = 0; i < plain.parameters.size(); ++i)
    EXPECT_SAME_BITS(scoped.parameters[i].grad().values<float>(), plain.parameters[i].grad().values<float>())
        << "parameter " << i;
}

TEST(Memory, GradientsThatMeetInALaterScopeStayReadable) {
  Var x(Tensor::of({2}, {3.0f, -1.0f}), true);
  Tensor held;
  for (int i = 0; i < 3; ++i) {
    const ArenaScope scope;
    held = x.grad();  // a holder forces the sum into a new buffer
    backward(add(mul(x, x), x), Tensor::full({2}, 1.0));
  }
  EXPECT_SAME_BITS(x.grad().values<float>(), (std::vector{21.0f, -3.0f}));
  EXPECT_SAME_BITS(held.values<float>(), (std::vector{14.0f, -2.0f}));
}

}  // namespace
}  // namespace addnorm
