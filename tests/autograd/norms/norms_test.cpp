// The norms besides layer and RMS norm as ops: gradients in double, invariants, running statistics, refusals.
#include <cmath>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "support/gradients.h"

namespace addnorm {
namespace {

using test::input;
using test::normal_tensor;
using test::throws_saying;
using Vars = std::vector<Var>;

Tensor small(const Shape& shape, std::uint64_t seed, double size) {
  Tensor t = input(shape, seed);
  for (double& v : t.values<double>()) v *= size;
  return t;
}

TEST(Gradients, OfL2NormAboveAndBelowEps) {
  const auto norm = [](const Vars& in) { return Vars{l2_norm(in[0], 0.01f)}; };
  EXPECT_GRADIENTS(norm, input({3, 5}, 1));
  // Far below eps, and far enough for a difference of 1e-5 not to reach it.
  EXPECT_GRADIENTS(norm, small({3, 5}, 1, 1e-4));
}

TEST(Gradients, OfScaleNormAboveAndBelowEps) {
  for (const bool one_plus : {false, true}) {
    const auto norm = [one_plus](const Vars& in) { return Vars{scale_norm(in[0], in[1], 0.01f, one_plus)}; };
    EXPECT_GRADIENTS(norm, input({3, 5}, 1), input({1}, 2));
    EXPECT_GRADIENTS(norm, small({3, 5}, 1, 1e-4), input({}, 2));
  }
}

TEST(Gradients, OfDyt) {
  for (const bool one_plus : {false, true}) {
    const auto both = [one_plus](const Vars& in) { return Vars{dyt(in[0], in[1], in[2], in[3], one_plus)}; };
    EXPECT_GRADIENTS(both, input({2, 3, 5}, 1), input({1}, 2), input({5}, 3), input({5}, 4));
  }
  const auto none = [](const Vars& in) { return Vars{dyt(in[0], in[1], Var(), Var())}; };
  EXPECT_GRADIENTS(none, input({3, 5}, 1), input({}, 2));
}

TEST(Gradients, OfPartialRmsNormWithEpsInsideAndOutside) {
  for (const EpsPlace place : {EpsPlace::inside_root, EpsPlace::outside_root})
    for (const bool one_plus : {false, true}) {
      const NormOptions options{.eps = 0.1f, .gain_is_one_plus_gamma = one_plus, .eps_place = place};
      const auto norm = [&](const Vars& in) { return Vars{partial_rms_norm(in[0], in[1], 3, options)}; };
      EXPECT_GRADIENTS(norm, input({2, 3, 5}, 1), input({5}, 2));
    }
  EXPECT_TRUE(throws_saying<UsageError>(
      [] {
        partial_rms_norm(Var(normal_tensor({2, 5}, 1)), Var(), 6);
      },
      {"partial_rms_norm", "measured is 6", "[2, 5]"}));
}

TEST(ScaleNorm, ScalesEveryRowToTheLearnedLength) {
  const Var x(normal_tensor({4, 17}, 1)), w(Tensor::of({1}, {2.5f}));
  for (const bool one_plus : {false, true}) {
    const Var y = scale_norm(x, w, 1e-5f, one_plus);
    for (std::size_t r = 0; r < 4; ++r) {
      double squares = 0;
      for (std::size_t j = 0; j < 17; ++j) squares += std::pow(static_cast<double>(y.data<float>()[r * 17 + j]), 2);
      EXPECT_NEAR(std::sqrt(squares), one_plus ? 3.5 : 2.5, test::elementwise_tolerance().rtol * 3.5);
    }
  }
}

struct Running {
  Tensor mean, var;
  explicit Running(std::size_t n, DType dtype = DType::f32)
      : mean(Tensor::zeros({n}, dtype)), var(Tensor::full({n}, 1.0, dtype)) {}
};

TEST(Gradients, OfBatchNormInTrainingAndEval) {
  for (const bool train : {true, false})
    for (const bool one_plus : {false, true}) {
      const auto norm = [=](const Vars& in) {
        Running running(4, DType::f64);
        running.mean.data<double>()[2] = 0.3;
        running.var.data<double>()[1] = 2.5;
        return Vars{batch_norm(in[0], in[1], in[2], running.mean, running.var,
                               {.eps = 0.1f, .train = train, .gain_is_one_plus_gamma = one_plus})};
      };
      EXPECT_GRADIENTS(norm, input({2, 3, 4}, 1), input({4}, 2), input({4}, 3));
    }
}

TEST(Gradients, OfBatchNormWithPaddingWhosePaddingRowsAreRead) {
  for (const std::vector<unsigned char>& padding :
       {std::vector<unsigned char>{0, 1, 0, 0, 1}, {1, 1, 1, 1, 0}, {1, 1, 1, 1, 1}}) {
    const auto norm = [&](const Vars& in) {
      Running running(3, DType::f64);
      return Vars{batch_norm(in[0], in[1], Var(), running.mean, running.var, {.eps = 0.1f}, padding)};
    };
    EXPECT_GRADIENTS(norm, input({5, 3}, 1), input({3}, 2));
  }
}

TEST(BatchNorm, MovesTheRunningStatisticsAsTorchDoes) {
  // Columns 1, 2, 3, 6 and 0, 0, 4, 4: means 3 and 2, variances divided by n - 1 14/3 and 16/3.
  const Var x(Tensor::of({4, 2}, {1, 0, 2, 0, 3, 4, 6, 4}));
  Running running(2);
  batch_norm(x, Var(), Var(), running.mean, running.var, {.momentum = 0.25f});
  EXPECT_NEAR_ALL(running.mean, Tensor::of({2}, {0.75f, 0.5f}), test::elementwise_tolerance());
  EXPECT_NEAR_ALL(running.var, Tensor::of({2}, {0.75f + 14.0f / 12, 0.75f + 16.0f / 12}), test::elementwise_tolerance());
}

TEST(BatchNorm, LeavesTheRunningStatisticsAloneInReplayAndEval) {
  const Var x(normal_tensor({8, 3}, 1));
  for (const BatchNormOptions options : {BatchNormOptions{.replay = true}, BatchNormOptions{.train = false}}) {
    Running running(3), before(3);
    batch_norm(x, Var(), Var(), running.mean, running.var, options);
    EXPECT_SAME_BITS(running.mean.values<float>(), before.mean.values<float>());
    EXPECT_SAME_BITS(running.var.values<float>(), before.var.values<float>());
  }
}

TEST(BatchNorm, ReplayGivesTheSameOutput) {
  const Var x(normal_tensor({8, 3}, 1));
  Running running(3);
  const Var first = batch_norm(x, Var(), Var(), running.mean, running.var);
  const Var again = batch_norm(x, Var(), Var(), running.mean, running.var, {.replay = true});
  EXPECT_SAME_BITS(first.value().values<float>(), again.value().values<float>());
}

TEST(BatchNorm, GivesBetaForOneRowThatCounts) {
  const Var x(normal_tensor({3, 5}, 1)), gamma(normal_tensor({5}, 2)), beta(normal_tensor({5}, 3));
  Running running(5);
  const Var y = batch_norm(x, gamma, beta, running.mean, running.var, {}, std::vector<unsigned char>{1, 0, 1});
  EXPECT_SAME_BITS(y.value().values<float>().subspan(5, 5), beta.value().values<float>());
  EXPECT_SAME_BITS(running.var.values<float>(), std::vector<float>(5, 1.0f));  // one row has no variance
}

TEST(BatchNorm, UsesTheRunningStatisticsWhenNoRowCounts) {
  const Var x(normal_tensor({2, 3}, 1));
  Running running(3), before(3);
  running.mean.data<float>()[1] = before.mean.data<float>()[1] = 0.5f;
  const Var y = batch_norm(x, Var(), Var(), running.mean, running.var, {}, std::vector<unsigned char>{1, 1});
  const Var want = batch_norm(x, Var(), Var(), before.mean, before.var, {.train = false});
  EXPECT_SAME_BITS(y.value().values<float>(), want.value().values<float>());
  EXPECT_SAME_BITS(running.mean.values<float>(), before.mean.values<float>());

  const Var none(Tensor({0, 3}));
  EXPECT_EQ(batch_norm(none, Var(), Var(), running.mean, running.var).shape(), (Shape{0, 3}));
}

TEST(BatchNorm, BackwardUsesTheStatisticsOfItsForwardAlthoughTheRunningOnesMovedOn) {
  const Tensor x = input({4, 2}, 1), dy = input({4, 2}, 2);
  const auto dx = [&](bool move) {
    Running running(2, DType::f64);
    const Var leaf(x, true);
    const Var y = batch_norm(leaf, Var(), Var(), running.mean, running.var, {.train = false});
    if (move) batch_norm(Var(x), Var(), Var(), running.mean, running.var);
    backward(y, dy);
    return leaf.grad();
  };
  EXPECT_NEAR_ALL(dx(true), dx(false), test::exact());
}

TEST(Norms, RefuseWhatDoesNotFitAndNameIt) {
  const Var x(Tensor({2, 3})), w(Tensor({2}));
  Running running(3), narrow(2);
  EXPECT_TRUE(throws_saying<UsageError>([&] { l2_norm(x, -1.0f); }, {"l2_norm", "eps is -1"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { scale_norm(x, w); }, {"scale_norm", "[2]", "[2, 3]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { scale_norm(x, Var(Tensor({1})), NAN); }, {"scale_norm", "nan"}));
  const Var half(Tensor::full({1}, 0.5));
  EXPECT_TRUE(throws_saying<UsageError>([&] { dyt(x, w, Var(), Var()); }, {"dyt", "alpha", "[2]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { dyt(x, half, w, Var()); }, {"dyt", "gamma", "[2]", "[2, 3]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { dyt(x, half, Var(), w); }, {"dyt", "beta", "[2]", "[2, 3]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { batch_norm(x, w, Var(), running.mean, running.var); }, {"gamma", "[2]", "[2, 3]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { batch_norm(x, Var(), w, running.mean, running.var); }, {"beta", "[2]", "[2, 3]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { batch_norm(x, Var(), Var(), narrow.mean, running.var); }, {"running_mean", "[2]"}));
  EXPECT_TRUE(throws_saying<UsageError>(
      [&] { batch_norm(x, Var(), Var(), running.mean, running.var, {}, std::vector<unsigned char>(3)); },
      {"padding", "3 rows", "[2, 3]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { batch_norm(x, Var(), Var(), running.mean, running.var, {.momentum = 2}); },
                                        {"batch_norm", "momentum is 2"}));
  EXPECT_TRUE(
      throws_saying<UsageError>([&] { batch_norm(x, Var(), Var(), running.mean, running.var, {.eps = -1}); }, {"eps is -1"}));
}

TEST(Norms, RefuseUndefinedVarsAndNameOpAndArgument) {
  const Var x(Tensor({2, 3})), one(Tensor::full({1}, 0.5)), none;
  Running running(3);
  Tensor no_tensor;
  EXPECT_TRUE(throws_saying<UsageError>([&] { l2_norm(none); }, {"l2_norm: x is an undefined Var"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { scale_norm(none, one); }, {"scale_norm: x is an undefined Var"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { scale_norm(x, none); }, {"scale_norm: g is an undefined Var"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { dyt(none, one, none, none); }, {"dyt: x is an undefined Var"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { dyt(x, none, none, none); }, {"dyt: alpha is an undefined Var"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { batch_norm(none, none, none, running.mean, running.var); },
                                        {"batch_norm: x is an undefined Var"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { batch_norm(x, none, none, no_tensor, running.var); },
                                        {"batch_norm: running_mean is an undefined Tensor"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { batch_norm(x, none, none, running.mean, no_tensor); },
                                        {"batch_norm: running_var is an undefined Tensor"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { layer_norm(none, none, none); }, {"layer_norm: x is an undefined Var"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { add_rms_norm(x, none, none); }, {"add_rms_norm: f is an undefined Var"}));
}

TEST(BatchNorm, RefusesRunningStatisticsThatOverlapWhatItReads) {
  Running running(3);
  const Var x(normal_tensor({1, 3}, 1)), gamma(normal_tensor({3}, 2));
  const auto refused = [&](const Var& in, const Var& g, const Var& b, Tensor& mean, Tensor& var, std::string first,
                           std::string second) {
    return throws_saying<UsageError>([&] { batch_norm(in, g, b, mean, var); }, {"batch_norm", first, second, "one buffer"});
  };
  EXPECT_TRUE(refused(x, Var(), Var(), running.mean, running.mean, "running_mean", "running_var"));
  Tensor row = x.value().reshape({3});
  EXPECT_TRUE(refused(x, Var(), Var(), row, running.var, "running_mean", " x "));
  EXPECT_TRUE(refused(x, Var(), Var(), running.mean, row, "running_var", " x "));
  Tensor same = gamma.value();
  EXPECT_TRUE(refused(x, gamma, Var(), running.mean, same, "running_var", "gamma"));
  EXPECT_TRUE(refused(x, Var(), gamma, same, running.var, "running_mean", "beta"));
}

}  // namespace
}  // namespace addnorm
