// The traversal: paths, roles, places, parts; and what stands on it.
#include "addnorm/nn/module.h"

#include <gtest/gtest.h>

#include "addnorm/autograd/tape.h"
#include "addnorm/nn/init.h"
#include "addnorm/nn/linear.h"
#include "addnorm/nn/norm.h"
#include "support/near.h"

namespace addnorm {
namespace {

struct Pair : Module {
  Linear first{3, {{Role::q, 0, 2}, {Role::v, 2, 4}}, true};
  Linear second{6, 3, Role::ffn_out, false};
  Norm norm{norm_named("batchnorm"), 3};
  void visit(Visitor& visitor) override {
    visitor.child("first", first, {.layer = 4, .sub_layer = SubLayer::cross});
    visitor.child("second", second);
    visitor.child("norm", norm);
  }
};

struct Outer : Module {
  Pair pair;
  Linear plain{2, 2};
  void visit(Visitor& visitor) override {
    visitor.child("pair", pair, {.layer = 1});
    visitor.child("", plain);
  }
};

TEST(Visit, ShowsPathRoleAndPlaceOfEveryParameterInOrder) {
  Outer outer;
  std::string seen;
  for_each_parameter(outer, [&](const Parameter& p) {
    seen += concat(p.path, " ", p.role, " ", p.place.layer ? concat("layer ", *p.place.layer) : std::string("-"), " ",
                   p.place.sub_layer ? name_of(*p.place.sub_layer) : "-", " ", p.parts.size(), "\n");
  });
  EXPECT_EQ(seen,
            "pair.first.weight q layer 4 cross 2\n"
            "pair.first.bias bias layer 4 cross 1\n"
            "pair.second.weight ffn_out layer 1 - 1\n"
            "pair.norm.weight norm_gain layer 1 - 1\n"
            "pair.norm.bias norm_bias layer 1 - 1\n"
            "weight weight - - 1\n"
            "bias bias - - 1\n");
}

TEST(Visit, ShowsBuffersApart) {
  Outer outer;
  std::string seen;
  for_each_buffer(outer, [&](const std::string& path, Tensor& value) { seen += concat(path, " ", value.shape(), "\n"); });
  EXPECT_EQ(seen, "pair.norm.running_mean [3]\npair.norm.running_var [3]\n");
}

TEST(Module, CountsItsParameters) {
  Outer outer;
  EXPECT_EQ(count_parameters(outer), 6u * 3 + 6 + 3 * 6 + 3 + 3 + 4 + 2);
}

TEST(Module, ConvertsParametersAndBuffersAndKeepsTheirValues) {
  Outer outer;
  outer.plain.weight().value() = Tensor::of({2, 2}, {1, 2, 3, 0.1f});
  convert(outer, DType::f64);
  for_each_parameter(outer, [](const Parameter& p) {
    EXPECT_EQ(p.value.dtype(), DType::f64) << p.path;
    EXPECT_TRUE(p.value.requires_grad()) << p.path;
  });
  for_each_buffer(outer, [](const std::string& path, const Tensor& value) { EXPECT_EQ(value.dtype(), DType::f64) << path; });
  EXPECT_EQ(outer.plain.weight().data<double>()[3], static_cast<double>(0.1f));
}

TEST(PackWeights, LeavesWhatIsNoMatrixAndComputesTheSame) {
  Linear map(40, 33, Role::ffn_in);
  initialise(map, xavier_rule, 1);
  map.bias().value() = test::normal_tensor({33}, 2);
  const Var x(test::normal_tensor({3, 7, 40}, 3));
  const NoGrad no_grad;
  const Tensor before = map(x, LinearActivation::gelu).value();
  EXPECT_FALSE(is_packed(map));
  pack_weights(map);
  EXPECT_TRUE(is_packed(map));
  EXPECT_EQ(map.in(), 40u);
  EXPECT_EQ(map.out(), 33u);
  std::string seen;
  for_each_parameter(map, [&](const Parameter& p) { seen += p.path; });
  EXPECT_EQ(seen, "bias");
  pack_weights(map);  // nothing is left to pack
  EXPECT_NEAR_ALL(map(x, LinearActivation::gelu).value(), before, test::product_tolerance(40));
}

TEST(PackWeights, IsForPassesWithoutGradients) {
  Linear map(4, 3);
  pack_weights(map);
  const Var x(test::normal_tensor({2, 4}, 1), true);
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { map(x); }, {"packed", "NoGrad"}));
  const NoGrad no_grad;
  EXPECT_EQ(map(x).shape(), (Shape{2, 3}));
}

TEST(PackWeights, RefusesFloat64) {
  Linear map(4, 3);
  convert(map, DType::f64);
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { pack_weights(map); }, {"pack_weights", "float64", "float32"}));
  EXPECT_TRUE(map.weight().defined()) << "refused before anything is taken";
}

TEST(Roles, AreMatricesOrLeftAloneByWeightDecay) {
  for (const Role role : {Role::q, Role::k, Role::v, Role::attention_out, Role::ffn_in, Role::ffn_gate, Role::ffn_out,
                          Role::token_embedding, Role::position_embedding, Role::head, Role::weight})
    EXPECT_TRUE(is_matrix(role)) << role;
  for (const Role role : {Role::bias, Role::norm_gain, Role::norm_bias, Role::coefficient}) EXPECT_FALSE(is_matrix(role)) << role;
}

TEST(Linear, RefusesWhatHasNoSizeAndPartsWithGaps) {
  EXPECT_TRUE(test::throws_saying<UsageError>([] { Linear(0, 3); }, {"Linear", "in is 0", "out is 3"}));
  EXPECT_TRUE(test::throws_saying<UsageError>(
      [] {
        Linear(3, {{Role::q, 0, 2}, {Role::k, 3, 2}});
      },
      {"Linear", "part k begins at row 3", "end at 2"}));
}

}  // namespace
}  // namespace addnorm
