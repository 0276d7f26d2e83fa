// recompute: the same results and gradients for less memory.
#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/tensor/arena.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::normal_tensor;
using test::throws_saying;

struct Parameters {
  Var gamma{normal_tensor({33}, 11), true}, beta{normal_tensor({33}, 12), true}, row{normal_tensor({33}, 13), true};
  std::vector<Var> all() const { return {gamma, beta, row}; }
};

/// A block that uses its input and its parameters several times.
std::vector<Var> block(const Parameters& p, const Var& x) {
  const Var h = layer_norm(x, p.gamma, p.beta);
  const Var mixed = add(mul(mul_row(h, p.row), gelu(x)), dropout(mul_row(x, p.row), 0.3f, RandomKey(5)));
  return {add(mixed, x), h};
}

enum class Way { plain, recomputed, nested };

/// Two blocks with a residual connection around each; gradients of x and of every parameter.
std::vector<Tensor> gradients(Way way, bool no_grad_around_backward = false) {
  const Parameters p;
  const Var x(normal_tensor({16, 33}, 1), true);
  const RecomputeFn fn = [&p](const std::vector<Var>& in) { return block(p, in[0]); };
  const auto apply = [&](const Var& v) -> std::vector<Var> {
    if (way == Way::plain) return block(p, v);
    if (way == Way::recomputed) return recompute(fn, {v});
    return recompute([fn](const std::vector<Var>& in) { return recompute(fn, {mul(in[0], in[0])}); }, {v});
  };
  Var stream = x;
  for (int i = 0; i < 2; ++i) {
    const Var input = way == Way::nested || i == 0 ? stream : mul(stream, stream);
    stream = add(add(stream, apply(input)[0]), stream);
  }
  std::vector<Tensor> out{stream.value()};
  if (no_grad_around_backward) {
    const NoGrad no_grad;
    backward(stream, normal_tensor({16, 33}, 2));
  } else {
    backward(stream, normal_tensor({16, 33}, 2));
  }
  out.push_back(x.grad());
  for (const Var& parameter : p.all()) out.push_back(parameter.grad());
  return out;
}

void expect_same(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_SAME_BITS(got[i].values<float>(), want[i].values<float>()) << "tensor " << i;
}

TEST(Recompute, GivesTheSameBitsAsWithoutAndReachesCapturedParameters) {
  expect_same(gradients(Way::recomputed), gradients(Way::plain));
}

TEST(Recompute, NestsAndGivesTheSameBits) {
  const auto flat = [] {
    const Parameters p;
    const Var x(normal_tensor({16, 33}, 1), true);
    Var stream = x;
    for (int i = 0; i < 2; ++i) stream = add(add(stream, block(p, mul(stream, stream))[0]), stream);
    std::vector<Tensor> out{stream.value()};
    backward(stream, normal_tensor({16, 33}, 2));
    out.push_back(x.grad());
    for (const Var& parameter : p.all()) out.push_back(parameter.grad());
    return out;
  };
  expect_same(gradients(Way::nested), flat());
}

TEST(Recompute, WorksWhenBackwardIsCalledUnderNoGrad) { expect_same(gradients(Way::recomputed, true), gradients(Way::plain)); }

TEST(Recompute, UnderNoGradIsJustTheFunction) {
  const NoGrad no_grad;
  const Parameters p;
  const Var x(normal_tensor({16, 33}, 1), true);
  int runs = 0;
  const auto y = recompute(
      [&](const std::vector<Var>& in) {
        ++runs;
        return block(p, in[0]);
      },
      {x});
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(y[0].requires_grad());
  EXPECT_SAME_BITS(y[0].value().values<float>(), block(p, x)[0].value().values<float>());
}

TEST(Recompute, GradientsAtOneOfItsOutputsAlone) {
  for (const std::size_t which : {0u, 1u}) {
    std::vector<std::vector<Tensor>> results;
    for (const bool again : {false, true}) {
      const Parameters p;
      const Var x(normal_tensor({16, 33}, 1), true);
      const auto fn = [&p](const std::vector<Var>& in) { return block(p, in[0]); };
      backward((again ? recompute(fn, {x}) : fn({x}))[which], normal_tensor({16, 33}, 2));
      results.push_back({x.grad(), p.gamma.grad()});
    }
    expect_same(results[1], results[0]);
  }
}

TEST(Recompute, KeptGraphsRunAgainAndAgain) {
  const Var x(Tensor::of({1}, {3.0f}), true);
  const auto y = recompute([](const std::vector<Var>& in) { return std::vector{mul(in[0], in[0])}; }, {x});
  backward(y[0], Tensor::full({1}, 1.0), {.keep_graph = true});
  backward(y[0], Tensor::full({1}, 1.0));
  EXPECT_EQ(x.grad().item(), 12.0);
}

TEST(Recompute, AnInputThatIsPassedThroughAndOneThatWantsNoGradient) {
  const Var x(Tensor::of({1}, {3.0f}), true), data(Tensor::of({1}, {5.0f}));
  const auto y = recompute([](const std::vector<Var>& in) { return std::vector{in[0], mul(in[0], in[1])}; }, {x, data});
  backward(y, std::vector{Tensor::full({1}, 1.0), Tensor::full({1}, 1.0)});
  EXPECT_EQ(x.grad().item(), 6.0);
  EXPECT_FALSE(data.grad().defined());
}

TEST(Recompute, TellsTheFunctionThatItRunsAgain) {
  const Var x(Tensor::of({1}, {3.0f}), true);
  std::vector<bool> seen;
  const RecomputeFn fn = [&seen](const std::vector<Var>& in) {
    seen.push_back(replaying());
    return std::vector{mul(in[0], in[0])};
  };
  const auto y = recompute([&fn](const std::vector<Var>& in) { return recompute(fn, in); }, {x});
  backward(y[0], Tensor::full({1}, 1.0));
  EXPECT_EQ(seen, (std::vector{false, true, true}));  // then both passes of the inner one, within the outer's second
  EXPECT_FALSE(replaying());
}

TEST(Recompute, MovesTheRunningStatisticsOfBatchNormOnce) {
  const Tensor x = normal_tensor({8, 3}, 1), dy = normal_tensor({8, 3}, 2);
  std::vector<Tensor> plain;
  for (const Way way : {Way::plain, Way::recomputed, Way::nested}) {
    Tensor mean = Tensor::zeros({3}), var = Tensor::full({3}, 1.0);
    const Var leaf(x, true);
    const RecomputeFn fn = [&](const std::vector<Var>& in) { return std::vector{batch_norm(in[0], Var(), Var(), mean, var)}; };
    std::vector<Var> y;
    if (way == Way::plain) y = fn({leaf});
    if (way == Way::recomputed) y = recompute(fn, {leaf});
    if (way == Way::nested) y = recompute([&fn](const std::vector<Var>& in) { return recompute(fn, in); }, {leaf});
    backward(y[0], dy);
    const std::vector<Tensor> got{mean, var, leaf.grad()};
    if (way == Way::plain) plain = got;
    expect_same(got, plain);
  }
}

/// bytes_in_use after forward, and the highest so far after backward, each above what was there before.
struct Memory {
  std::size_t kept, peak;
};

Memory memory_of(bool again) {
  const std::size_t before = arena_stats().bytes_in_use;
  const Var large(Tensor::full({512, 1024}, 0.5), true);
  const RecomputeFn six = [](const std::vector<Var>& in) {
    Var h = in[0];
    for (int i = 0; i < 6; ++i) h = mul(h, h);
    return std::vector{h};
  };
  std::vector<Var> h{large};
  for (int i = 0; i < 4; ++i) h = again ? recompute(six, h) : six(h);
  const std::size_t kept = arena_stats().bytes_in_use - before;
  backward(h[0], Tensor::full({512, 1024}, 1.0));
  return {kept, arena_stats().peak_bytes - before};
}

TEST(Recompute, KeepsOnlyTheInputsAndLowersThePeak) {
  const std::size_t peak_before = arena_stats().peak_bytes;
  const Memory again = memory_of(true);  // first: the peak never falls
  ASSERT_GT(again.peak, peak_before) << "other tests must stay below, or the peak proves nothing";
  const Memory plain = memory_of(false);
  constexpr std::size_t kTensor = 2 << 20;
  EXPECT_LE(again.kept, 6 * kTensor);   // large, three inputs, the result, and small change
  EXPECT_GE(plain.kept, 24 * kTensor);  // every intermediate value
  EXPECT_LT(2 * again.peak, plain.peak + 4 * kTensor);
}

TEST(Recompute, RefusesWhatItCannotRun) {
  const Var x(Tensor::of({1}, {3.0f}), true);
  const auto identity = [](const std::vector<Var>& in) { return in; };
  EXPECT_TRUE(throws_saying<UsageError>([&] { recompute(identity, {x, Var()}); }, {"recompute", "input 1", "undefined"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { recompute(nullptr, {x}); }, {"recompute", "empty"}));

  const Var computed = mul(x, x);
  const auto y = recompute([computed](const std::vector<Var>& in) { return std::vector{mul(in[0], computed)}; }, {x});
  EXPECT_TRUE(throws_saying<UsageError>([&] { backward(y[0], Tensor::full({1}, 1.0)); },
                                        {"recompute", "op 'mul'", "captured", "as inputs"}));

  int calls = 0;
  const auto fickle = recompute(
      [&calls](const std::vector<Var>& in) { return std::vector<Var>(1 + static_cast<std::size_t>(calls++), in[0]); }, {x});
  EXPECT_TRUE(
      throws_saying<UsageError>([&] { backward(fickle[0], Tensor::full({1}, 1.0)); }, {"recompute", "gave 1 results, and 2"}));
}

}  // namespace
}  // namespace addnorm
