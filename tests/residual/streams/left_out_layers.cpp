// Layers that a model leaves out or runs again.
#include <cmath>

#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/residual.h"
#include "support/modules.h"
#include "support/streams/stream_runs.h"

namespace addnorm {
namespace {

using test::normal_tensor;
using test::row_branches;
using test::run_stack;

/// The stack with these layers, in this order.
Var run_layers(const Residual& residual, const Var& x, const std::vector<Var>& w, const std::vector<std::size_t>& layers) {
  const auto stream = residual.open(x, {});
  for (const std::size_t layer : layers) {
    stream->enter(layer);
    for (std::size_t i = 0; i < residual.shape().sub_layers.size(); ++i) {
      const Unit unit = residual.shape().unit(layer, i);
      stream->write(unit, mul_row(stream->read(unit), w[unit.index]));
    }
    stream->leave(layer);
  }
  return stream->close();
}

class Layers : public testing::Test {
 protected:
  static Var N(const Var& s) { return layer_norm(s, Var(Tensor::full({6}, 1)), Var(Tensor::zeros({6}))); }
  Var through(const char* name, const std::vector<std::size_t>& layers, bool start = true) const {
    const auto residual = make_residual(name, three);
    if (!start) test::scramble(*residual);
    return run_layers(*residual, x, v, layers);
  }
  /// pre-ln layers without a final norm.
  Var pre(std::size_t layer, Var s) const {
    for (std::size_t i = 2 * layer; i < 2 * layer + 2; ++i) s = add(s, mul_row(N(s), v[i]));
    return s;
  }
  static void expect_same(const Var& got, const Var& want) {
    EXPECT_SAME_BITS(got.value().values<float>(), want.value().values<float>());
  }
  const Var x = Var(normal_tensor({2, 3, 6}, 1));
  const StackShape three{.width = 6, .layers = 3};
  const std::vector<Var> v = row_branches(three);
};

TEST_F(Layers, LeftOutAreTheIdentity) {
  std::vector<Var> others = v;  // a stack of layers 0 and 2
  others.erase(others.begin() + 2, others.begin() + 4);
  for (const char* name :
       {"post-ln", "pre-ln", "b2t", "resi-dual", "rskip", "parallel", "parallel-2ln", "denseformer", "x0-mix"}) {
    SCOPED_TRACE(name);
    expect_same(through(name, {0, 2}), run_stack(*make_residual(name, {.width = 6, .layers = 2}), x, others));
  }
}

TEST_F(Layers, LeftOutOfAMixGiveWhatTheyWouldHaveRead) {
  const auto uniform = [](std::size_t n) { return Var(Tensor::full({n}, 1 / static_cast<double>(n))); };
  std::vector<Var> y{x};
  y.push_back(N(pre(0, weighted_sum(y, uniform(1)))));
  y.push_back(N(weighted_sum(y, uniform(2))));  // layer 1
  y.push_back(N(pre(2, weighted_sum(y, uniform(3)))));
  expect_same(through("dlcl-pre", {0, 2}), weighted_sum(y, uniform(4)));
  y.pop_back();
  y.push_back(N(weighted_sum(y, uniform(3))));  // the last one too
  expect_same(through("dlcl-pre", {0}), weighted_sum(y, uniform(4)));
}

TEST_F(Layers, OfEveryArrangementMayBeLeftOutOrRunTwice) {
  for (const Arrangement& row : arrangements())
    for (const std::vector<std::size_t>& layers :
         {std::vector<std::size_t>{1, 2}, {0, 2}, {0, 1}, {}, {0, 1, 1, 2}, {0, 1, 2, 2}}) {
      SCOPED_TRACE(concat(row.name, ", ", layers.size(), " layers"));
      const Var y = through(row.name.c_str(), layers, false);
      EXPECT_EQ(y.shape(), x.shape());
      for (const float value : y.value().values<float>()) EXPECT_TRUE(std::isfinite(value));
    }
}

TEST_F(Layers, RunTwiceReplaceTheirOutput) {
  const auto residual = make_residual("denseformer", three);
  std::vector<Var> mix;
  test::scramble(*residual);
  for_each_parameter(*residual, [&](Parameter& p) {
    if (p.role == Role::coefficient)
      mix.push_back(p.value);
    else
      p.value.value() = Tensor::full(p.value.shape(), p.role == Role::norm_gain ? 1 : 0);
  });
  const Var first = weighted_sum({x, pre(0, x)}, mix[0]), again = weighted_sum({x, pre(0, first)}, mix[0]);
  const Var second = weighted_sum({x, pre(0, first), pre(1, again)}, mix[1]);
  expect_same(run_layers(*residual, x, v, {0, 0, 1}), N(second));
  expect_same(through("dlcl-pre", {0, 1, 1, 2}, false), through("dlcl-pre", {0, 1, 2}, false));
  expect_same(through("dlcl-post", {0, 1, 1, 2}, false), through("dlcl-post", {0, 1, 2}, false));
}

}  // namespace
}  // namespace addnorm
