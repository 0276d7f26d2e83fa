// What each arrangement that is a row promises: exact identities in double, and what holds on average at initialisation. Here by
// where norms stand; by coefficients in coefficient_invariants.cpp, by depth in depth_invariants.cpp.
#include "support/streams/invariants.h"
#include "addnorm/nn/attention.h"
#include "addnorm/nn/feed_forward.h"

namespace addnorm {
namespace {

using namespace test;  // the words that invariants are written in

// 1.1 plain

TEST(Plain, HasTheProductOfItsBranchesAsJacobian) {
  const StackShape shape = shape_of(2);
  const auto residual = in_double("plain", shape);
  const LinearBranches branches(shape, DType::f64);
  const Var x(input({1, kWidth}, 1), true);
  const Tensor dy = input({1, kWidth}, 2);
  backward(run_units(*residual, x, branches), dy);
  Var product(dy);  // dy W_4 W_3 W_2 W_1
  for (std::size_t i = shape.units(); i-- > 0;) product = matmul(product, branches.weights[i].detach());
  EXPECT_NEAR_ALL(x.grad(), product.value(), double_tolerance());
  EXPECT_NEAR_ALL(run_units(*residual, x, silent).value(), Tensor::zeros({1, kWidth}, DType::f64), exact());
}

TEST(Plain, MakesAllTokensOneWithAttentionAlone) {
  const std::vector<double> spreads = spreads_of_attention("plain", 4);  // doubly exponential: the sixth is 0
  for (std::size_t i = 1; i < spreads.size(); ++i) EXPECT_LT(spreads[i], spreads[i - 1]) << i;
  EXPECT_LT(spreads.back(), 0.01);
  EXPECT_GT(spreads_of_attention("residual", 4).back(), 0.1);  // skips prevent it
}

// 1.2 residual

TEST(ResidualSum, IsTheInputAndAllBranchesInTheirOrder) {
  const StackShape shape = shape_of(3);
  const Var x(normal_tensor({2, 3, kWidth}, 1));
  Listener listener;
  const Var y = run_stack(*make_residual("residual", shape), x, row_branches(shape), {}, &listener);
  Var sum = x;
  for (const Var& f : listener.branches) sum = add(sum, f);
  expect_same(y, sum);
}

TEST(ResidualSum, PassesOneGradientToEveryDepthWhenBranchesAreSilent) {
  Listener listener;
  listener.retain = true;
  const Var x(normal_tensor({2, 3, kWidth}, 1), true);
  const Var y = run_units(*make_residual("residual", shape_of(3)), x, silent, {}, &listener);
  const Tensor dy = normal_tensor(y.shape(), 9);
  backward(y, dy);
  for (const Var& s : listener.streams) EXPECT_SAME_BITS(s.grad().values<float>(), dy.values<float>());
}

TEST(ResidualSum, OfTheIdentityIsTwiceTheInputNotTheInput) {
  const Var x(normal_tensor({2, 3, kWidth}, 1));
  const Var y = run_units(*make_residual("residual", shape_of(2)), x, [](const Unit&, const Var& u) { return u; });
  expect_same(y, scale(x, 16));  // four units
}

TEST(ResidualSum, DoublesItsVarianceWithEveryUnit) {
  const StackShape shape = ffn_only(5);
  const Var x(normal_tensor({1, 64, kWide}, 1));
  const Var y = run_units(*make_residual("residual", shape), x, LinearBranches(shape));
  EXPECT_TRUE(within(mean_square(y.value()) / mean_square(x.value()), 32, one_network_tolerance()));
}

// 1.3 post-ln

TEST(PostLn, GivesTokensOfMeanZeroAndVarianceOne) {
  const StackShape shape = shape_of(2);
  const Var y = run_stack(*in_double("post-ln", shape, kNoEps), Var(input({2, 3, kWidth}, 1)), row_branches(shape, DType::f64));
  EXPECT_NEAR_ALL(layer_norm(y, Var(), Var(), {.eps = 0}).value(), y.value(), double_tolerance());
}

TEST(PostLn, DoesNotSeeTheScaleOfSkipAndBranch) {
  const auto residual = in_double("post-ln", {.width = kWidth, .layers = 1, .sub_layers = {SubLayer::ffn}}, kNoEps);
  const Tensor f = input({2, 3, kWidth}, 2);
  const auto run = [&](double c) {
    return run_units(*residual, scale(Var(input({2, 3, kWidth}, 1)), c),
                     [&](const Unit&, const Var&) { return scale(Var(f), c); });
  };
  EXPECT_NEAR_ALL(run(7).value(), run(1).value(), double_tolerance());
}

TEST(PostLn, LosesTwoDirectionsOfEveryGradient) {  // of the sum: along 1, and along the sum itself
  const auto residual = in_double("post-ln", {.width = kWidth, .layers = 1, .sub_layers = {SubLayer::ffn}}, kNoEps);
  const Var f(input({2, 3, kWidth}, 2), true);
  const Var y = run_units(*residual, Var(input({2, 3, kWidth}, 1)), [&](const Unit&, const Var&) { return f; });
  backward(y, input(y.shape(), 9));
  for (std::size_t token = 0; token < 6; ++token) {
    double along_one = 0, along_y = 0;
    for (std::size_t i = token * kWidth; i < (token + 1) * kWidth; ++i) {
      along_one += f.grad().values<double>()[i];
      along_y += f.grad().values<double>()[i] * y.value().values<double>()[i];
    }
    EXPECT_TRUE(within(along_one, 0, double_tolerance()));
    EXPECT_TRUE(within(along_y, 0, double_tolerance()));
  }
}

/// ||dL/dW|| of the last branch for an upstream gradient of one size.
double last_gradient(const char* name, std::size_t layers) {
  const StackShape shape = ffn_only(layers, 64);
  const LinearBranches branches(shape);
  const Var y = run_units(*make_residual(name, shape), normed(Var(normal_tensor({1, 64, 64}, 1))), branches);
  backward(y, normal_tensor(y.shape(), 9));
  return length(branches.weights.back().grad());
}

TEST(PostLn, HasALastGradientThatDoesNotDependOnDepth) {  // Xiong et al., theorem 1
  EXPECT_TRUE(within(last_gradient("post-ln", 32), last_gradient("post-ln", 2), one_network_tolerance()));
}

// 1.4 pre-ln

TEST(PreLn, HasALastGradientThatShrinksWithTheRootOfDepth) {
  const auto expected = [](double layers) { return 1 / std::sqrt(1 + layers); };  // 1 / the deviation before the final norm
  EXPECT_TRUE(
      within(last_gradient("pre-ln", 32) / last_gradient("pre-ln", 2), expected(32) / expected(2), one_network_tolerance()));
  EXPECT_TRUE(within(last_gradient("pre-ln-nofinal", 32), last_gradient("pre-ln-nofinal", 2), one_network_tolerance()));
}

TEST(PreLn, WithoutItsFinalNormPassesTheTopGradientToTheBottom) {
  const Var x(normal_tensor({2, 3, kWidth}, 1), true);
  const auto cut = [](const Unit&, const Var& u) { return u.detach(); };
  const Var y = run_units(*make_residual("pre-ln-nofinal", shape_of(3)), x, cut);
  const Tensor dy = normal_tensor(y.shape(), 9);
  backward(y, dy);
  EXPECT_SAME_BITS(x.grad().values<float>(), dy.values<float>());
}

TEST(PreLn, GrowsByOneBranchPerUnit) {
  const std::vector<double> at = squares("pre-ln", ffn_only(12));
  for (const std::size_t l : {3u, 6u, 12u}) EXPECT_TRUE(within(at[l], 1 + static_cast<double>(l), one_network_tolerance())) << l;
}

TEST(PreLn, DoesNotSeeACommonScaleOfInputAndOutputWeights) {
  const StackShape shape = shape_of(2);
  const auto residual = in_double("pre-ln", shape, kNoEps);
  const auto run = [&](double c) {
    return run_units(*residual, scale(Var(input({2, 3, kWidth}, 1)), c), LinearBranches(shape, DType::f64, c)).value();
  };
  EXPECT_NEAR_ALL(run(8), run(1), double_tolerance());
}

// 1.6, 1.7 sandwich, peri-ln, res-post

TEST(OutputNorms, AddAVectorOfLengthRootDWhateverTheBranchSays) {
  for (const char* name : {"sandwich", "peri-ln", "res-post"}) {
    const StackShape shape = shape_of(2);
    Listener listener;
    run_units(*in_double(name, shape, kNoEps), Var(input({1, 1, kWidth}, 1)), LinearBranches(shape, DType::f64), {}, &listener);
    for (std::size_t i = 1; i < listener.streams.size(); ++i) {
      const Tensor step = sub(listener.streams[i], listener.streams[i - 1]).value();
      EXPECT_TRUE(within(length(step), std::sqrt(kWidth), double_tolerance())) << name << i;
    }
    const auto louder = [&](double c) {  // weights of the branch times c
      const auto run = in_double(name, shape, kNoEps);
      return run_units(*run, Var(input({1, 3, kWidth}, 1)),
                       [&](const Unit& unit, const Var& u) { return scale(LinearBranches(shape, DType::f64)(unit, u), c); })
          .value();
    };
    EXPECT_NEAR_ALL(louder(9), louder(1), double_tolerance()) << name;
  }
}

TEST(OutputNorms, LetTheStreamGrowByOnePerUnit) {
  for (const char* name : {"sandwich", "peri-ln", "res-post"}) {
    const std::vector<double> at = squares(name, ffn_only(8));
    EXPECT_TRUE(within(at[4], 5, one_network_tolerance())) << name;
    EXPECT_TRUE(within(at[8], 9, one_network_tolerance())) << name;
  }
}

TEST(OutputNorms, OfGainZeroMakeTheIdentity) {
  for (const char* name : {"sandwich", "res-post"}) {
    const auto residual = make_residual(name, shape_of(2), {.final_norm = false});
    for_each_parameter(*residual, [&](Parameter& p) {
      if (p.path.find(".out.") != std::string::npos) p.value.value() = Tensor::zeros(p.value.shape());
    });
    const Var x(normal_tensor({2, 3, kWidth}, 1));
    expect_same(run_stack(*residual, x, row_branches(residual->shape())), x);
  }
}

// 1.8, 1.9 normformer, sub-ln: norms inside the branch

FeedForward feed_forward(const BranchOptions& wanted, double in_scale) {
  FeedForward ffn({.d_model = 8, .d_ff = 16, .activation = Activation::relu, .inner_norm = wanted.inner_norm});
  initialise(ffn, xavier_rule, 1);
  for_each_parameter(ffn, [&](Parameter& p) {
    if (p.role == Role::ffn_in) p.value.value() = scale(p.value, in_scale).value();
  });
  convert(ffn, DType::f64);
  return ffn;
}
Attention self_attention(const BranchOptions& wanted, double value_scale, double gain = 1) {
  Attention attention({.d_model = 8, .heads = 2, .inner_norm = wanted.inner_norm, .head_gain = wanted.head_gain});
  initialise(attention, xavier_rule, 1);
  for_each_parameter(attention, [&](Parameter& p) {
    if (p.role == Role::coefficient) p.value.value() = Tensor::full(p.value.shape(), gain);
    for (const Part& part : p.parts)
      if (part.role == Role::v)
        for (std::size_t i = part.first * 8; i < (part.first + part.rows) * 8; ++i)
          p.value.value().data<float>()[i] *= static_cast<float>(value_scale);
  });
  convert(attention, DType::f64);
  return attention;
}

TEST(InnerNorms, HideTheScaleOfWhatIsBeforeThem) {
  for (const char* name : {"normformer", "sub-ln"}) {
    const StackShape shape = shape_of(1, 8);
    const auto residual = in_double(name, shape, kNoEps);
    const auto run = [&](double scale_of_in, double scale_of_v) {
      return run_units(*residual, Var(input({1, 4, 8}, 1)),
                       [&](const Unit& unit, const Var& u) {
                         const BranchOptions wanted = residual->branch(unit);
                         if (unit.sub_layer == SubLayer::ffn) return feed_forward(wanted, scale_of_in)(u, {});
                         return self_attention(wanted, scale_of_v)(u, {}, {});
                       })
          .value();
    };
    EXPECT_NEAR_ALL(run(8, 1), run(1, 1), double_tolerance()) << name;  // W_1, through ReLU
    EXPECT_NEAR_ALL(run(1, 8), run(1, 1), double_tolerance()) << name;  // W_v: normformer norms after W_o, sub-ln before
  }
}

TEST(Normformer, WithHeadsOfGainZeroAddsTheBiasOfItsNorm) {
  const StackShape shape{.width = 8, .layers = 1, .sub_layers = {SubLayer::self}};
  const auto residual = make_residual("normformer", shape, {.final_norm = false});
  Tensor beta = normal_tensor({8}, 5);
  for_each_parameter(*residual, [&](Parameter& p) {
    if (p.path == "layers.0.self.out.bias") p.value.value() = beta;
  });
  convert(*residual, DType::f64);
  const Var x(input({1, 4, 8}, 1));
  const Var y = run_units(*residual, x, [&](const Unit& unit, const Var& u) {
    return self_attention(residual->branch(unit), 1, /*gain=*/0)(u, {}, {});
  });
  EXPECT_NEAR_ALL(y.value(), add_bias(x, Var(beta.to(DType::f64))).value(), double_tolerance());
}

}  // namespace
}  // namespace addnorm
