// The tape: recording, accumulation, release, errors in the middle, long chains.
#include "addnorm/autograd/tape.h"

#include <pthread.h>

#include <thread>

#include "addnorm/autograd/ops.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::normal_tensor;
using test::throws_saying;

Var leaf(std::initializer_list<float> values) { return Var(Tensor::of({values.size()}, values), true); }
Tensor ones(std::size_t n) { return Tensor::full({n}, 1.0); }
std::vector<float> grad_of(const Var& v) {
  const auto values = v.grad().values<float>();
  return {values.begin(), values.end()};
}

TEST(Tape, NoGradRecordsNothingAndEndsWithItsScope) {
  const Var x = leaf({1, 2});
  {
    const NoGrad outer;
    { const NoGrad inner; }
    EXPECT_FALSE(grad_enabled());
    const Var y = mul(x, x);
    EXPECT_FALSE(y.requires_grad());
    EXPECT_EQ(y.op(), "leaf");
  }
  EXPECT_TRUE(grad_enabled());
  EXPECT_TRUE(mul(x, x).requires_grad());
  bool elsewhere = false;
  const NoGrad here;
  std::thread([&] { elsewhere = grad_enabled(); }).join();
  EXPECT_TRUE(elsewhere) << "NoGrad belongs to its thread";
}

TEST(Tape, DetachSharesTheValueAndStopsTheGradient) {
  const Var x = leaf({3, 4});
  const Var y = mul(x, x);
  EXPECT_TRUE(y.detach().value().shares_with(y.value()));
  EXPECT_FALSE(y.detach().requires_grad());
  backward(mul(x, y.detach()), ones(2));
  EXPECT_EQ(grad_of(x), (std::vector{9.0f, 16.0f}));  // x^2 counts as a constant
}

TEST(Tape, TwoBackwardsAddTheirGradientsUntilCleared) {
  Var x = leaf({3, 4});
  backward(mul(x, x), ones(2));
  backward(mul(x, x), ones(2));
  EXPECT_EQ(grad_of(x), (std::vector{12.0f, 16.0f}));
  const Tensor held = x.grad();
  backward(mul(x, x), ones(2));
  EXPECT_EQ(held.values<float>()[0], 12.0f) << "a gradient that is held elsewhere is not changed";
  x.clear_grad();
  backward(mul(x, x), ones(2));
  EXPECT_EQ(grad_of(x), (std::vector{6.0f, 8.0f}));
}

TEST(Tape, SharedPartsReceiveTheSumOfAllTheirUses) {
  const Var x = leaf({3, -2});
  const Var square = mul(x, x);
  const Var diamond = mul(add(square, x), sub(square, x));  // x^4 - x^2
  backward(diamond, ones(2));
  EXPECT_EQ(grad_of(x), (std::vector{4.0f * 27 - 6, 4.0f * -8 + 4}));
  const Var y = leaf({5});
  backward(mul(mul(y, y), y), ones(1));
  EXPECT_EQ(grad_of(y), std::vector{75.0f});
}

TEST(Tape, ASharedPartRunsBackwardOnceAfterAllItsGradientsHaveMet) {
  const Var x = leaf({2});
  int runs = 0;
  const Var shared = record("counted", {x}, x.value().clone(), [&runs](const Tensor& dy, Grads& grads) {
    ++runs;
    EXPECT_EQ(dy.values<float>()[0], 4.0f);
    grads.give(0, dy);
  });
  backward(add(add(shared, shared), add(shared, shared)), ones(1));
  EXPECT_EQ(runs, 1);
}

TEST(Tape, RetainGradKeepsTheGradientOfAComputedValue) {
  const Var x = leaf({3});
  Var y = mul(x, x), z = add(y, y);
  const Var unasked = mul(z, x);
  y.retain_grad();
  z.retain_grad();
  backward(unasked, ones(1));
  EXPECT_EQ(grad_of(y), std::vector{6.0f});  // two uses of 3
  EXPECT_EQ(grad_of(z), std::vector{3.0f});
  EXPECT_FALSE(unasked.grad().defined());
  y.grad().values<float>()[0] = 100;
  EXPECT_EQ(grad_of(z), std::vector{3.0f});
  EXPECT_TRUE(throws_saying<UsageError>([] { Var(ones(1)).retain_grad(); }, {"retain_grad", "does not require"}));
}

TEST(Tape, RetainedGradientsOfOneSumAreNotOneBuffer) {
  const Var x = leaf({3});
  Var a = mul(x, x), b = mul(x, x);
  a.retain_grad();
  b.retain_grad();
  backward(add(a, b), ones(1));
  a.grad().values<float>()[0] = 100;
  EXPECT_EQ(grad_of(b), std::vector{1.0f});
}

TEST(Tape, KeepGraphAllowsASecondBackwardAndWithoutItTheErrorSaysSo) {
  const Var x = leaf({3});
  const Var y = mul(mul(x, x), x);
  backward(y, ones(1), {.keep_graph = true});
  backward(y, ones(1));
  EXPECT_EQ(grad_of(x), std::vector{54.0f});
  EXPECT_TRUE(
      throws_saying<UsageError>([&] { backward(y, ones(1)); }, {"op 'mul'", "already run backward", "keep_graph = true"}));
  EXPECT_EQ(grad_of(x), std::vector{54.0f});
}

TEST(Tape, BackwardReleasesWhatItHasUsed) {
  const Var x = leaf({3});
  Tensor saved = ones(1);
  const Var y = record("keeps", {x}, x.value().clone(), [saved](const Tensor& dy, Grads& grads) { grads.give(0, dy); });
  EXPECT_FALSE(saved.unique());
  backward(y, ones(1));
  EXPECT_TRUE(saved.unique());
}

TEST(Tape, OutputsThatNothingArrivesAtAreUndefinedInBackward) {
  const Var x = leaf({3});
  const auto outputs =
      record("two", {x}, std::vector{x.value().clone(), x.value().clone()}, [](std::span<const Tensor> dy, Grads& grads) {
        EXPECT_FALSE(dy[0].defined());
        ASSERT_TRUE(dy[1].defined());
        grads.give(0, dy[1]);
      });
  backward(mul(outputs[1], outputs[1].detach()), ones(1));
  EXPECT_EQ(grad_of(x), std::vector{3.0f});
}

TEST(Tape, WantedIsFalseForInputsWithoutGradientAndWhatTheyAreGivenIsIgnored) {
  const Var x = leaf({3}), constant(ones(1));
  const Var y = record("partly", {constant, x}, x.value().clone(), [](const Tensor& dy, Grads& grads) {
    EXPECT_FALSE(grads.wanted(0));
    EXPECT_TRUE(grads.wanted(1));
    grads.give(0, dy);
    grads.give(1, dy);
  });
  backward(y, ones(1));
  EXPECT_FALSE(constant.grad().defined());
  EXPECT_EQ(grad_of(x), std::vector{1.0f});
}

TEST(Tape, LeavesNeverShareTheirGradientWithAnything) {
  const Tensor dy = Tensor::of({2}, {5.0f, 7.0f});
  Var a = leaf({1, 2}), b = leaf({3, 4}), c = leaf({0, 0});
  backward(add(add(a, b), c), dy);
  backward(c, dy);  // a leaf may be the output itself
  a.grad().values<float>()[0] = 100;
  c.grad().values<float>()[0] = 200;
  EXPECT_EQ(grad_of(b), (std::vector{5.0f, 7.0f}));
  EXPECT_EQ(dy.values<float>()[0], 5.0f);

  Var x(normal_tensor({4, 6}, 1), true), f(normal_tensor({4, 6}, 2), true);  // one kernel result serves both
  backward(add_layer_norm(x, f, Var(), Var()).y, normal_tensor({4, 6}, 3));
  EXPECT_SAME_BITS(x.grad().values<float>(), f.grad().values<float>());
  EXPECT_FALSE(x.grad().shares_with(f.grad()));
}

TEST(Tape, AnErrorInTheMiddleOfBackwardLeavesTheTapeUsable) {
  const Var x = leaf({3});
  bool fail = true;
  const Var early = mul(x, x);
  const Var risky = record("risky", {early}, early.value().clone(), [&fail](const Tensor& dy, Grads& grads) {
    if (fail) throw NumericsError("made to fail");
    grads.give(0, dy);
  });
  const Var y = add(risky, early);  // early is queued when risky throws
  EXPECT_THROW(backward(y, ones(1), {.keep_graph = true}), NumericsError);
  EXPECT_FALSE(x.grad().defined());
  fail = false;
  backward(y, ones(1), {.keep_graph = true});
  EXPECT_EQ(grad_of(x), std::vector{12.0f}) << "nothing of the failed pass is left over, nothing is lost";

  const Var wrong = record("wrong", {early}, early.value().clone(), [](const Tensor&, Grads& grads) { grads.give(0, ones(2)); });
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(add(wrong, early), ones(1), {.keep_graph = true}); },
                                        {"op 'wrong'", "[2]", "input 0", "[1]"}));
  backward(early, ones(1));
  EXPECT_EQ(grad_of(x), std::vector{18.0f});
}

TEST(Tape, AnOpThatAsksForAnInputItHasNotIsNamed) {
  const Var x = leaf({3});
  const auto op = [&](SimpleBackwardFn backward_fn) { return record("mine", {x}, x.value().clone(), std::move(backward_fn)); };
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(op([](const Tensor& dy, Grads& g) { g.give(5, dy); }), ones(1)); },
                                        {"op 'mine'", "1 inputs", "number 5"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(op([](const Tensor&, Grads& g) { g.wanted(1); }), ones(1)); },
                                        {"op 'mine'", "number 1"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(op([](const Tensor&, Grads& g) { g.give(0, Tensor()); }), ones(1)); },
                                        {"op 'mine'", "undefined gradient", "input 0"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { op(nullptr); }, {"mine", "backward function is empty"}));
}

TEST(Tape, AFailedBackwardLeavesPartOfTheGradientAndReleasesWhatRan) {
  Var x = leaf({3}), w = leaf({5});
  const Var early = record("risky", {x}, x.value().clone(), [](const Tensor&, Grads&) { throw NumericsError("made to fail"); });
  const Var y = mul(early, w);
  EXPECT_THROW(backward(y, ones(1)), NumericsError);
  EXPECT_EQ(grad_of(w), std::vector{3.0f}) << "mul ran before risky failed";
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(y, ones(1)); }, {"op 'mul'", "already run backward"}));
  EXPECT_EQ(grad_of(w), std::vector{3.0f});
}

TEST(Tape, ALeafMayChangeItsShapeBetweenUsesOnceItsGradientIsCleared) {
  Var x = leaf({3});
  backward(mul(x, x), ones(1));
  x.value() = Tensor::of({2}, {1.0f, 2.0f});
  EXPECT_TRUE(
      throws_saying<UsageError>([&] { backward(mul(x, x), ones(2)); }, {"gradient of a leaf is [1]", "[2]", "clear_grad"}));
  x.clear_grad();
  backward(mul(x, x), ones(2));
  EXPECT_EQ(grad_of(x), (std::vector{2.0f, 4.0f}));
}

TEST(Tape, AnUndefinedInputIsRecordedAsNoneAndWantsNothing) {
  const Var x = leaf({3});
  const Var y = record("optional", {Var(), x}, x.value().clone(), [](const Tensor& dy, Grads& grads) {
    EXPECT_FALSE(grads.wanted(0));
    grads.give(0, dy);
    grads.give(1, dy);
  });
  backward(y, ones(1));
  EXPECT_EQ(grad_of(x), std::vector{1.0f});
}

TEST(Tape, BackwardRefusesWhatItCannotRun) {
  const Var x = leaf({3, 4});
  const Var y = mul(x, x);
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(y); }, {"backward", "[2]", "one element"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(y, ones(3)); }, {"backward: output 0 is [2] float32", "[3] float32"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(y, ones(2).to(DType::f64)); }, {"[2] float32", "[2] float64"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(y, Tensor()); }, {"backward: output 0", "undefined"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(Var()); }, {"backward", "undefined"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(y.detach(), ones(2)); },
                                        {"output 0", "requires a gradient", "Var(tensor, true)"}));
  EXPECT_TRUE(throws_saying<UsageError>(
      [&] {
        backward(std::vector{y, y}, std::vector{ones(2)});
      },
      {"2 outputs but 1 gradients"}));
  EXPECT_FALSE(x.grad().defined());
  backward(y, ones(2));
  EXPECT_EQ(grad_of(x), (std::vector{6.0f, 8.0f}));
}

TEST(Tape, RunsAChainOfAHundredThousandOpsForwardBackwardAndDestroysIt) {
  Var x = leaf({1, 1});
  Var y = x;
  const Var step(Tensor::full({2}, 0.0));
  for (int i = 0; i < 100000; ++i) y = add(y, step);
  backward(y, Tensor::of({2}, {3.0f, 5.0f}));
  EXPECT_EQ(grad_of(x), (std::vector{3.0f, 5.0f}));
}

/// fn() on a thread with 256 KB of stack.
template <class F>
void with_small_stack(F fn) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* body) -> void* {
                  (*static_cast<F*>(body))();
                  return nullptr;
                },
                &fn),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Tape, LongChainsNeedNoStack) {
  with_small_stack([] {
    const Var x = leaf({1});
    {
      Var y = x;
      for (int i = 0; i < 100000; ++i) y = mul(y, y.detach());  // never runs backward: destroyed as it is
    }
    Var y = x;
    for (int i = 0; i < 100000; ++i) y = i % 2 == 0 ? add(y, x) : mul(y, Var(ones(1)));
    backward(y, ones(1), {.keep_graph = true});
    EXPECT_EQ(grad_of(x), std::vector{50001.0f});
  });
}

TEST(Tape, AGraphMayOutliveTheThreadThatMadeItAndItsOtherThreadLocals) {
  Var kept;
  std::thread([&kept] {
    thread_local Var last;  // destroyed at the end of the thread, after anything made later
    const Var x = leaf({1});
    last = x;
    for (int i = 0; i < 1000; ++i) last = mul(last, x);
    kept = mul(last, x);
  }).join();
  backward(kept, ones(1));
  EXPECT_EQ(kept.value().item(), 1.0);
}

}  // namespace
}  // namespace addnorm
