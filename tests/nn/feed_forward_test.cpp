// The position-wise branch: gradients for every activation, the inner norm, names.
#include "addnorm/nn/feed_forward.h"

#include "support/gradients.h"
#include "support/modules.h"

namespace addnorm {
namespace {

TEST(FeedForward, HasTheGradientsOfFiniteDifferencesForEveryActivation) {
  for (const std::string& name : activation_names())
    for (const char* inner : {"none", "layernorm"}) {
      SCOPED_TRACE(name + " " + inner);
      FeedForward ffn({.d_model = 4, .d_ff = 6, .activation = activation_named(name), .inner_norm = norm_named(inner)});
      test::scramble(ffn);
      EXPECT_TRUE(
          test::gradients_hold(ffn, [&](const std::vector<Var>& in) { return ffn(in[0], {}); }, {test::input({2, 3, 4}, 1)}));
    }
}

TEST(FeedForward, IsTheFormula) {
  FeedForward ffn({.d_model = 3, .d_ff = 5, .activation = Activation::swiglu, .inner_norm = norm_named("rmsnorm")});
  test::scramble(ffn);
  std::vector<Var> p;
  for_each_parameter(ffn, [&](Parameter& parameter) { p.push_back(parameter.value); });
  const Var x(test::normal_tensor({4, 3}, 9));
  const auto halves = split(linear(x, p[0], p[1]), {5, 5}, -1);
  const Var want = linear(rms_norm(mul(silu(halves[0]), halves[1]), p[2]), p[3], p[4]);
  EXPECT_NEAR_ALL(ffn(x, {}).value(), want.value(), test::reduction_tolerance(5));
}

TEST(FeedForward, WithAnInnerNormDoesNotSeeTheScaleOfW1) {
  FeedForward ffn(
      {.d_model = 8, .d_ff = 16, .activation = Activation::relu, .bias = false, .inner_norm = norm_named("layernorm-noeps")});
  test::scramble(ffn);
  const Var x(test::normal_tensor({4, 8}, 1));
  const Tensor before = ffn(x, {}).value();
  for_each_parameter(ffn, [](Parameter& p) {
    if (p.role == Role::ffn_in)
      for (float& w : p.value.value().values<float>()) w *= 4;
  });
  EXPECT_SAME_BITS(ffn(x, {}).value().values<float>(), before.values<float>());
}

TEST(FeedForward, NamesTheRolesOfItsMatrices) {
  FeedForward ffn({.d_model = 4, .d_ff = 6, .activation = Activation::swiglu});
  std::string seen;
  for_each_parameter(ffn, [&](const Parameter& p) {
    for (const Part& part : p.parts) seen += concat(p.path, " ", part.role, " ", part.first, "+", part.rows, "; ");
  });
  EXPECT_EQ(seen, "in.weight ffn_gate 0+6; in.weight ffn_in 6+6; in.bias bias 0+12; out.weight ffn_out 0+4; out.bias bias 0+4; ");
}

TEST(ActivationNames, AreKnownByTheirAliases) {
  EXPECT_EQ(activation_named("GELU"), Activation::gelu);
  EXPECT_EQ(activation_named("gelu_new"), Activation::gelu_tanh);
  EXPECT_EQ(activation_named("swish"), Activation::silu);
  EXPECT_TRUE(
      test::throws_saying<UsageError>([] { activation_named("gleu"); }, {"unknown activation 'gleu'", "did you mean gelu"}));
}

}  // namespace
}  // namespace addnorm
