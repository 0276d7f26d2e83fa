// Arrangements that are classes: each against its formula written out for two layers of two units, and what it promises.
#include "addnorm/autograd/tape.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/explain.h"
#include "support/gradients.h"
#include "support/streams/random_branches.h"
#include "support/streams/stream_runs.h"

namespace addnorm {
namespace {

using test::normal_tensor;
using test::row_branches;
using test::run_stack;
using test::run_units;

class Classes : public testing::Test {
 protected:
  static Var N(const Var& v) { return layer_norm(v, gamma(), beta()); }
  static Var gamma() { return Var(Tensor::full({6}, 1)); }
  static Var beta() { return Var(Tensor::zeros({6})); }
  Var F(std::size_t i, const Var& v) const { return mul_row(v, w[i]); }

  const StackShape shape{.width = 6, .layers = 2};
  const std::vector<Var> w = row_branches(shape);
  const Var x = Var(normal_tensor({2, 3, 6}, 1));

  void expect_is(const char* name, const Var& want, const ResidualOptions& options = {}) {
    const auto residual = make_residual(name, shape, options);
    EXPECT_SAME_BITS(run_stack(*residual, x, w).value().values<float>(), want.value().values<float>()) << name;
  }
};

TEST_F(Classes, ResiDualIsPostLnWithASecondStreamThatOnlyCollects) {
  Var s = x, r = x;
  for (std::size_t i = 0; i < 4; ++i) {
    const Var f = F(i, s);
    r = add(r, f);
    s = N(add(s, f));
  }
  expect_is("resi-dual", add(s, N(r)));
}

TEST_F(Classes, B2tAddsTheInputOfTheLayerBeforeItsLastNorm) {
  Var s = x;
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const Var h = N(add(s, F(2 * layer, s)));
    s = N(add(add(s, h), F(2 * layer + 1, h)));
  }
  expect_is("b2t", s);
}

TEST_F(Classes, B2tOfZeroBranchesLeavesANormedInput) {
  const auto residual = make_residual("b2t", shape, {.norm = norm_named("layernorm-noeps")});
  const Var normed = layer_norm(x, Var(), Var(), {.eps = 0});
  const std::vector<Var> zero(4, Var(Tensor::zeros({6})));
  EXPECT_NEAR_ALL(run_stack(*residual, normed, zero).value(), normed.value(), test::two_norms_tolerance());
}

TEST_F(Classes, RskipAddsTheSkipTwice) {
  Var s = x;
  for (std::size_t i = 0; i < 4; ++i) s = N(add(s, N(add(s, F(i, s)))));
  expect_is("rskip", s);
}

TEST_F(Classes, ParallelLayersReadOneNorm) {
  Var s = x;
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const Var u = N(s);
    s = add(add(s, F(2 * layer, u)), F(2 * layer + 1, u));
  }
  expect_is("parallel", N(s));
  expect_is("parallel-2ln", N(s));  // at the start both norms are the same function
  const auto one = make_residual("parallel", shape), two = make_residual("parallel-2ln", shape);
  EXPECT_EQ(count_parameters(*one), 2u * 6 * 3);
  EXPECT_EQ(count_parameters(*two), 2u * 6 * 5);
}

TEST_F(Classes, ParallelWithOneSilentBranchIsPreLn) {
  std::vector<Var> half = w;
  half[1] = half[3] = Var(Tensor::zeros({6}));
  EXPECT_SAME_BITS(run_stack(*make_residual("parallel", shape), x, half).value().values<float>(),
                   run_stack(*make_residual("pre-ln", shape), x, half).value().values<float>());
}

TEST_F(Classes, DenseFormerStartsAsPreLnAndMixesAllLayers) {
  expect_is("denseformer", run_stack(*make_residual("pre-ln", shape), x, w));
  const auto residual = make_residual("denseformer", shape);
  std::vector<Var> mix;
  for_each_parameter(*residual, [&](Parameter& p) {
    if (p.role != Role::coefficient) return;
    p.value.value() = normal_tensor(p.value.shape(), 20 + p.value.shape()[0]);
    mix.push_back(p.value);
  });
  std::vector<Var> outputs{x};
  Var s = x;
  for (std::size_t layer = 0; layer < 2; ++layer) {
    s = add(s, F(2 * layer, N(s)));
    outputs.push_back(add(s, F(2 * layer + 1, N(s))));
    s = weighted_sum(outputs, mix[layer]);
  }
  EXPECT_SAME_BITS(run_stack(*residual, x, w).value().values<float>(), N(s).value().values<float>());
}

TEST_F(Classes, X0MixBeginsEveryLayerWithAMixOfTheStreamAndTheInput) {
  expect_is("x0-mix", run_stack(*make_residual("pre-ln", shape), x, w));  // a is 1 and b is 0
  EXPECT_EQ(extra_parameters_text(arrangement_named("x0-mix"), shape), "2d, and 2 per layer");
  const auto residual = make_residual("x0-mix", shape);
  std::map<std::string, Var> c;
  for_each_parameter(*residual, [&](Parameter& p) {
    if (p.role == Role::coefficient) c[p.path] = p.value = Var(normal_tensor({1}, 20 + c.size()), true);
  });
  Var s = x;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string layer = concat("layers.", i / 2);
    if (i % 2 == 0) s = add(mul_scalar(s, c.at(layer + ".a")), mul_scalar(x, c.at(layer + ".b")));
    s = add(s, F(i, N(s)));
  }
  EXPECT_SAME_BITS(run_stack(*residual, x, w).value().values<float>(), N(s).value().values<float>());
}

TEST_F(Classes, DlclLayersReadAMixOfAllLayersBelow) {
  const auto uniform = [](std::size_t n) { return Var(Tensor::full({n}, 1 / static_cast<double>(n))); };
  std::vector<Var> pre{x}, post{x};
  for (std::size_t layer = 0; layer < 2; ++layer) {
    Var s = weighted_sum(pre, uniform(layer + 1));
    for (std::size_t i = 2 * layer; i < 2 * layer + 2; ++i) s = add(s, F(i, N(s)));
    pre.push_back(N(s));
    Var p = weighted_sum(post, uniform(layer + 1));
    if (layer > 0) p = N(p);
    for (std::size_t i = 2 * layer; i < 2 * layer + 2; ++i) p = N(add(p, F(i, p)));
    post.push_back(p);
  }
  expect_is("dlcl-pre", weighted_sum(pre, uniform(3)));
  expect_is("dlcl-post", N(weighted_sum(post, uniform(3))));
}

TEST_F(Classes, B2tCrossesOneNormPerLayer) {
  const StackShape one{.width = 512, .layers = 1};
  const Var wide = layer_norm(Var(normal_tensor({1, 64, 512}, 1)), Var(), Var());
  const auto left = [&](const char* name) {  // of the input, beside branches of variance 1 that have nothing in common with it
    const Var y = run_units(*make_residual(name, one), wide,
                            [](const Unit& unit, const Var& u) { return Var(normal_tensor(u.shape(), 1000 + unit.index)); });
    return test::cosine(wide.value(), y.value());
  };
  const double root = std::sqrt(0.5);
  EXPECT_TRUE(test::within(left("post-ln"), 0.5, test::one_network_tolerance()));
  EXPECT_TRUE(test::within(left("b2t"), (1 + root) / std::sqrt((1 + root) * (1 + root) + 1.5), test::one_network_tolerance()));
}

TEST_F(Classes, RskipGivesTheSkipAGreaterShare) {  // (1 + sqrt(1 + σ²)) : 1 after two additions
  const StackShape one{.width = 512, .layers = 1, .sub_layers = {SubLayer::ffn}};
  const Var wide = layer_norm(Var(normal_tensor({1, 64, 512}, 1)), Var(), Var());
  const Var f(normal_tensor(wide.shape(), 1000));
  const auto ratio = [&](std::size_t recursions) {
    const Var y = run_units(*make_residual("rskip", one, {.choices = {.recursions = recursions}}), wide,
                            [&](const Unit&, const Var&) { return f; });
    return test::dot(y.value(), wide.value()) / test::dot(y.value(), f.value());
  };
  EXPECT_TRUE(test::within(ratio(1), 1, test::one_network_tolerance()));
  EXPECT_TRUE(test::within(ratio(2), 1 + std::sqrt(2.0), test::one_network_tolerance()));
}

TEST_F(Classes, ParallelDiffersFromSerialInFirstOrderOfTheFirstBranch) {
  const StackShape one{.width = 6, .layers = 1};
  const auto parallel = make_residual("parallel", one), serial = make_residual("pre-ln", one);
  convert(*parallel, DType::f64);
  convert(*serial, DType::f64);
  const test::LinearBranches branches(one, DType::f64);
  const auto difference = [&](double size) {
    const auto run = [&](const Residual& residual) {
      return run_units(residual, Var(test::input({1, 3, 6}, 1)),
                       [&](const Unit& unit, const Var& u) { return scale(branches(unit, u), unit.index == 0 ? size : 1); });
    };
    return test::length(sub(run(*parallel), run(*serial)).value());
  };
  EXPECT_EQ(difference(0), 0);
  EXPECT_TRUE(test::within(difference(1e-3) / difference(5e-4), 2, test::one_network_tolerance()));
}

/// The parameters of a residual whose path contains `part`.
void fill(Residual& residual, std::string_view part, const std::function<Tensor(const Shape&)>& value) {
  for_each_parameter(residual, [&](Parameter& p) {
    if (p.path.find(part) != std::string::npos) p.value.value() = value(p.value.shape());
  });
}
Tensor one_hot(const Shape& shape, std::size_t at) {
  Tensor t = Tensor::zeros(shape);
  t.data<float>()[at] = 1;
  return t;
}

TEST_F(Classes, DlclStartsWithRowsThatSumToOne) {
  for (const char* name : {"dlcl-pre", "dlcl-post"}) {
    std::size_t rows = 0;
    for_each_parameter(*make_residual(name, shape), [&](Parameter& p) {
      if (p.role != Role::coefficient) return;
      ++rows;
      double sum = 0;
      for (const float v : p.value.value().values<float>()) sum += static_cast<double>(v);
      EXPECT_TRUE(test::within(sum, 1, test::elementwise_tolerance()));
    });
    EXPECT_EQ(rows, 3u);
  }
}

TEST_F(Classes, DlclThatReadsOnlyTheNewestNormsLayersOnceMore) {
  const auto residual = make_residual("dlcl-pre", shape);
  for_each_parameter(*residual, [](Parameter& p) {
    if (p.role == Role::coefficient) p.value.value() = one_hot(p.value.shape(), p.value.shape()[0] - 1);
  });
  Var s = x;
  for (std::size_t i = 0; i < 4; ++i) {
    s = add(s, F(i, N(s)));
    if (i % 2 == 1) s = N(s);
  }
  EXPECT_SAME_BITS(run_stack(*residual, x, w).value().values<float>(), s.value().values<float>());
}

TEST_F(Classes, DlclThatReadsOnlyTheInputGivesItBack) {
  const auto residual = make_residual("dlcl-pre", shape);
  for_each_parameter(*residual, [](Parameter& p) {
    if (p.role == Role::coefficient) p.value.value() = one_hot(p.value.shape(), 0);
  });
  EXPECT_SAME_BITS(run_stack(*residual, x, w).value().values<float>(), x.value().values<float>());
}

TEST_F(Classes, ResiDualWithoutItsReadoutIsPostLn) {
  const auto residual = make_residual("resi-dual", shape);
  fill(*residual, "exit.", [](const Shape& s) { return Tensor::zeros(s); });
  EXPECT_SAME_BITS(run_stack(*residual, x, w).value().values<float>(),
                   run_stack(*make_residual("post-ln", shape), x, w).value().values<float>());
}

TEST_F(Classes, ResiDualCollectsTheBranchesOfPostLnAsTheyAre) {
  const ResidualOptions readout_only{.choices = {.stream_share = 0}};
  test::Listener post;
  run_stack(*make_residual("post-ln", shape), x, w, {}, &post);
  Var r = x;
  for (const Var& f : post.branches) r = add(r, f);
  EXPECT_NEAR_ALL(run_stack(*make_residual("resi-dual", shape, readout_only), x, w).value(), N(r).value(), test::exact());
}

TEST_F(Classes, ResiDualGivesEveryBranchTheSameGradientThroughItsReadout) {
  std::vector<Var> f;
  for (std::size_t i = 0; i < 4; ++i) f.emplace_back(normal_tensor(x.shape(), 70 + i), true);
  const auto residual = make_residual("resi-dual", shape, {.choices = {.stream_share = 0}});
  const Var y = run_units(*residual, x, [&](const Unit& unit, const Var&) { return f[unit.index]; });
  backward(y, normal_tensor(y.shape(), 9));
  for (const Var& each : f) EXPECT_NEAR_ALL(each.grad(), f[3].grad(), test::exact());
}

TEST_F(Classes, OfZeroBranchesAreTheIdentityOrANorm) {
  const auto silent = [](const Unit&, const Var& u) { return scale(u, 0); };
  for (const char* name : {"parallel", "parallel-2ln", "denseformer"})
    EXPECT_SAME_BITS(run_units(*make_residual(name, shape, {.final_norm = false}), x, silent).value().values<float>(),
                     x.value().values<float>())
        << name;
  const Var normed = layer_norm(x, Var(), Var(), {.eps = 0});
  for (const char* name : {"b2t", "rskip"}) {
    const auto residual = make_residual(name, shape, {.norm = norm_named("layernorm-noeps")});
    EXPECT_NEAR_ALL(run_units(*residual, x, silent).value(), normed.value(), test::two_norms_tolerance()) << name;
  }
}

TEST_F(Classes, ResiDualRefusesToLoseItsReadout) {
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { make_residual("resi-dual", shape, {.final_norm = false}); },
                                              {"resi-dual", "x + N(r)", "final_norm"}));
}

}  // namespace
}  // namespace addnorm
