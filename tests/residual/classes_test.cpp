// Arrangements that are classes: each against its formula written out for two layers of two units.
#include "addnorm/residual/catalogue.h"
#include "support/gradients.h"
#include "support/stream_runs.h"

namespace addnorm {
namespace {

using test::normal_tensor;
using test::row_branches;
using test::run_stack;

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

TEST_F(Classes, ResiDualRefusesToLoseItsReadout) {
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { make_residual("resi-dual", shape, {.final_norm = false}); },
                                              {"resi-dual", "x + N(r)", "final_norm"}));
}

}  // namespace
}  // namespace addnorm
