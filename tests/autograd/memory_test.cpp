// What stays alive until backward: what an op's closure reads, and nothing else; and what the arena sees of it.
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

TEST(Memory, GradientsFlowThroughValuesThatAreGone) {
  const Var x(Tensor::of({2}, {3.0f, -1.0f}), true);
  Var f = mul(x, x), y = add(f, x);
  f = Var();
  backward(y, Tensor::of({2}, {1.0f, 2.0f}));
  EXPECT_SAME_BITS(x.grad().values<float>(), (std::vector{7.0f, -2.0f}));
}

TEST(Memory, AChainOfSumsKeepsOnlyItsEnds) {
  const std::size_t before = arena_stats().bytes_in_use;
  const Var x = leaf({1024});
  Var y = x;
  for (int i = 0; i < 50; ++i) y = add(y, x);
  EXPECT_EQ(arena_stats().bytes_in_use - before, 2u * 4096);
}

}  // namespace
}  // namespace addnorm
