// What arrangements promise whose skip or branch has a coefficient, and which norms hide one.
#include "support/streams/invariants.h"

namespace addnorm {
namespace {

using namespace test;  // the words that invariants are written in

// 1.12, 1.13 rezero, skipinit

TEST(ZeroStart, IsTheIdentityAndPassesEveryGradientAsItIs) {
  for (const char* name : {"rezero", "skipinit"}) {
    const StackShape shape = shape_of(50);
    const auto residual = make_residual(name, shape);
    const std::vector<Var> w = row_branches(shape);
    const Var x(normal_tensor({2, 3, kWidth}, 1), true);
    const Var y = run_stack(*residual, x, w);
    expect_same(y, x);
    const Tensor dy = normal_tensor(y.shape(), 9);
    backward(y, dy);
    EXPECT_SAME_BITS(x.grad().values<float>(), dy.values<float>());  // all singular values are 1
    for (const Var& each : w)
      for (const float g : each.grad().values<float>()) EXPECT_EQ(g, 0.0f);
  }
}

TEST(ZeroStart, MovesOnlyItsFactorsInTheFirstStep) {
  const StackShape shape = shape_of(2);
  const std::vector<Var> w = row_branches(shape, DType::f64);
  const Tensor x = input({2, 3, kWidth}, 1), dy = input({2, 3, kWidth}, 9);
  for (const char* name : {"rezero", "skipinit"}) {
    const auto residual = in_double(name, shape);
    backward(run_stack(*residual, Var(x), w), dy);
    const std::vector<Var> alphas = coefficients(*residual);
    const std::size_t units_each = shape.units() / alphas.size();  // rezero: a layer shares one
    for (std::size_t k = 0; k < alphas.size(); ++k) {
      double want = 0;
      for (std::size_t i = k * units_each; i < (k + 1) * units_each; ++i) want += dot(dy, mul_row(Var(x), w[i]).value());
      EXPECT_TRUE(within(alphas[k].grad().values<double>()[0], want, double_tolerance())) << name << k;
    }
  }
}

// 1.14 layerscale

TEST(LayerScale, StartsWithinEpsilonOfTheIdentity) {
  const StackShape shape = shape_of(1);
  const auto residual = in_double("layerscale", shape, {.final_norm = false, .choices = {.branch_start = 1e-3}});
  const LinearBranches branches(shape, DType::f64);
  Listener listener;
  std::vector<double> lengths;  // of F
  run_units(
      *residual, Var(input({1, 3, kWidth}, 1)),
      [&](const Unit& unit, const Var& u) {
        const Var f = branches(unit, u);
        lengths.push_back(length(f.value()));
        return f;
      },
      {}, &listener);
  for (std::size_t i = 0; i < 2; ++i) {
    const double step = length(sub(listener.streams[i + 1], listener.streams[i]).value());
    EXPECT_TRUE(within(step, 1e-3 * lengths[i], reduction_tolerance(kWidth))) << i;  // λ was rounded to float once
  }
}

TEST(LayerScale, OfOneIsPreLnAndScalesTheGradientOfItsBranch) {
  const StackShape shape{.width = kWidth, .layers = 1, .sub_layers = {SubLayer::ffn}};
  const auto run = [&](const char* name, const ResidualOptions& options) {
    const std::vector<Var> w = row_branches(shape);
    const Var y = run_stack(*make_residual(name, shape, options), Var(normal_tensor({2, 3, kWidth}, 1)), w);
    backward(y, normal_tensor(y.shape(), 9));
    return std::pair(y, w[0].grad());
  };
  expect_same(run("layerscale", {.choices = {.branch_start = 1}}).first, run("pre-ln", {}).first);
  const auto gradient = [&](double start) {
    return run("layerscale", {.final_norm = false, .choices = {.branch_start = start}}).second;
  };
  EXPECT_SAME_BITS(gradient(0.25).values<float>(), scale(Var(gradient(1)), 0.25).value().values<float>());
}

// 1.21 xskip

TEST(Xskip, MultipliesValueAndGradientByLambdaPerUnit) {
  for (const double lambda : {0.5, 2.0}) {
    const auto residual = make_residual("xskip", shape_of(5), {.choices = {.skip_factor = lambda}});
    const Var x(normal_tensor({2, 3, kWidth}, 1), true);
    const Var y = run_units(*residual, x, silent);
    expect_same(y, scale(x, std::pow(lambda, 10)));
    const Tensor dy = normal_tensor(y.shape(), 9);
    backward(y, dy);
    EXPECT_SAME_BITS(x.grad().values<float>(), scale(Var(dy), std::pow(lambda, 10)).value().values<float>());
  }
}

// 1.23, 1.24 mix-ln, lns

TEST(MixLn, HasAStreamOfLengthRootDAtItsSeam) {
  const StackShape shape = ffn_only(8);
  const std::vector<double> at = squares("mix-ln", shape, kNoEps);
  EXPECT_TRUE(within(at[2], 1, variance_tolerance()));     // after the last of the post-ln layers
  EXPECT_TRUE(within(at[3], 2, one_network_tolerance()));  // then it grows
}

TEST(Lns, OfOneLayerIsPreLn) {
  const StackShape shape = shape_of(1);
  const Var x(normal_tensor({2, 3, kWidth}, 1));
  expect_same(run_stack(*make_residual("lns", shape), x, row_branches(shape)),
              run_stack(*make_residual("pre-ln", shape), x, row_branches(shape)));
}

TEST(Lns, GrowsWithTheLogarithmOfDepth) {
  const StackShape shape{.width = kWide, .layers = 8, .sub_layers = {SubLayer::ffn, SubLayer::ffn}};
  double harmonic = 0;
  for (double l = 1; l <= 8; ++l) harmonic += 1 / l;
  EXPECT_TRUE(within(squares("lns", shape).back(), 1 + 2 * harmonic, one_network_tolerance()));
}

// 1.28 keel

TEST(Keel, OfFactorOneStartsAsPostLn) {
  const StackShape shape = shape_of(2);
  const auto keel = in_double("keel", shape, {.norm = kNoEps.norm, .choices = {.skip_factor = 1}});
  const Var x = normed(Var(input({2, 3, kWidth}, 1)));
  const std::vector<Var> w = row_branches(shape, DType::f64);
  EXPECT_NEAR_ALL(run_stack(*keel, x, w).value(), run_stack(*in_double("post-ln", shape, kNoEps), x, w).value(),
                  double_tolerance());
}

TEST(Keel, TurnsTheStreamByOneBranchInN) {
  const StackShape shape = ffn_only(8);
  Listener listener;
  run_units(*make_residual("keel", shape), normed(Var(normal_tensor({1, 64, kWide}, 1))), LinearBranches(shape), {}, &listener);
  for (std::size_t i = 1; i < listener.streams.size(); ++i) {
    const double cos = cosine(listener.streams[i - 1].value(), listener.streams[i].value());
    EXPECT_TRUE(within(std::sqrt(1 / (cos * cos) - 1), 1.0 / 8, one_network_tolerance())) << i;  // the tangent: σ / α
  }
}

// 1.34 scaled-res

TEST(ScaledRes, StaysBelowETimesItsInputAtAnyDepth) {
  for (const std::size_t layers : {4u, 16u, 64u}) {
    const StackShape shape = ffn_only(layers, 64);
    const LinearBranches branches(shape);
    const Var x(normal_tensor({1, 32, 64}, 1));
    Arrangement row = arrangement_named("scaled-res");  // branches that read the stream itself
    row.unit.in = row.exit = false;
    const double grown = mean_square(run_units(*make_residual(row, shape), x, branches).value()) / mean_square(x.value());
    const double n = static_cast<double>(layers);
    EXPECT_TRUE(within(grown, std::pow(1 + 1 / n, n), one_network_tolerance())) << layers;
  }
}

TEST(ScaledRes, KeepsTokensApartHoweverDeep) { EXPECT_GT(spreads_of_attention("scaled-res", 64).back(), 0.5); }

// 0.4 (7): what norms do not see

TEST(Norms, HideShiftAndScaleAsTheirFormulasSay) {
  const Var x(input({3, kWidth}, 1));
  const Var moved = add_bias(scale(x, 3), Var(Tensor::full({kWidth}, 2, DType::f64)));
  const auto norm = [](const char* name, const Var& v) {
    NormKindOptions kind = norm_named(name);
    kind.eps = 0;
    Norm module(kind, kWidth);
    convert(module, DType::f64);
    return module(v, {}).value();
  };
  const auto same = [](const Tensor& a, const Tensor& b) { return static_cast<bool>(near_all(a, b, double_tolerance())); };
  EXPECT_TRUE(same(norm("layernorm", moved), norm("layernorm", x)));
  EXPECT_TRUE(same(norm("layernorm", Var(norm("layernorm", x))), norm("layernorm", x)));
  for (const char* name : {"rmsnorm", "scalenorm"}) {
    EXPECT_TRUE(same(norm(name, scale(x, 3)), norm(name, x))) << name;
    EXPECT_FALSE(same(norm(name, moved), norm(name, x))) << name;
  }
  EXPECT_FALSE(same(norm("dyt", scale(x, 3)), norm("dyt", x)));
}

}  // namespace
}  // namespace addnorm
