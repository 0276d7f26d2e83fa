// Passes that begin in the middle have the bits of whole ones.
#include "probe/xray/kept_pass.h"

#include <gtest/gtest.h>

#include "addnorm/autograd/tape.h"
#include "addnorm/residual/catalogue.h"
#include "support/models/any_data.h"
#include "support/modules.h"
#include "support/streams/every_arrangement.h"

namespace addnorm {
namespace {

using test::EveryArrangement;
void expect_same(const Model& model, const Batch& batch, const Var& y, const Cut& cut, const char* what) {
  const Tensor whole = batch_logits(model, batch, {.cut = cut}).value(), from_middle = head_logits(model, batch, y).value();
  EXPECT_SAME_BITS(from_middle.values<float>(), whole.values<float>()) << what << " in " << cut.stack;
}

void expect_the_bits_of_whole_passes(const ModelConfig& config) {
  const auto model = make_model(config);
  test::scramble(*model);
  const NoGrad off;
  const Batch batch = test::AnyData(config).batch(0, 3);
  const KeptPass pass(*model, batch);
  EXPECT_SAME_BITS(head_logits(*model, batch, pass.output()).value().values<float>(),
                   batch_logits(*model, batch, {}).value().values<float>());
  const std::vector<Stack*> stacks = model->stacks();
  for (std::size_t s = 0; s < stacks.size(); ++s) {
    const StackShape& shape = stacks[s]->residual().shape();
    for (std::size_t u = 0; u < shape.units(); ++u) {
      expect_same(*model, batch, pass.without(s, {u}), {.stack = shape.name, .bypassed = {u}}, "without a unit");
      expect_same(*model, batch, pass.ended(s, u + 1), {.stack = shape.name, .last_unit = u}, "ended after a unit");
    }
    expect_same(*model, batch, pass.without(s, {3, 0, 2}), {.stack = shape.name, .bypassed = {3, 0, 2}}, "without three units");
  }
}

TEST_P(EveryArrangement, GivesTheBitsOfWholePassesFromTheMiddle) {
  expect_the_bits_of_whole_passes(test::small(ModelKind::lm, GetParam()));
}

class EveryKind : public testing::TestWithParam<ModelKind> {};
INSTANTIATE_TEST_SUITE_P(Models, EveryKind,
                         testing::Values(ModelKind::lm, ModelKind::encoder, ModelKind::seq2seq, ModelKind::classifier,
                                         ModelKind::mlp),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });
TEST_P(EveryKind, GivesTheBitsOfWholePassesFromTheMiddle) {
  for (const std::string norm : {"layernorm", "batchnorm"})
    for (const std::string arrangement : {"pre-ln", "post-ln", "denseformer"}) {
      ModelConfig config = test::small(GetParam(), arrangement);
      config.norm = norm;
      config.layers = 4;
      expect_the_bits_of_whole_passes(config);
    }
}

// A stack without any unit is its entry and its exit.
TEST(KeptPass, EndsBeforeTheFirstUnit) {
  for (const std::string arrangement : {"pre-ln", "post-ln"}) {
    const auto model = make_model(test::small(ModelKind::lm, arrangement));
    test::scramble(*model);
    const NoGrad off;
    const Batch batch = test::AnyData(model->config()).batch(0, 2);
    struct Input : StreamObserver {
      Var x;
      void on_branch(const Unit&, const Var&) override {}
      void on_stream(const Unit* unit, const Var& now) override {
        if (!unit) x = now;
      }
    } input;
    const KeptPass pass(*model, batch, {&input});
    Var expected = input.x;
    for_each_parameter(*model, [&](Parameter& p) {
      if (p.path == "residual.exit.weight") expected = layer_norm(input.x, p.value, Var());
    });
    for_each_parameter(*model, [&](Parameter& p) {
      if (p.path == "residual.exit.bias") expected = add_bias(expected, p.value);
    });
    EXPECT_NEAR_ALL(pass.ended(0, 0).value(), expected.value(), test::norm_tolerance()) << arrangement;
    EXPECT_EQ(arrangement == "post-ln", pass.ended(0, 0).value().shares_with(input.x.value()));
  }
}

TEST(KeptPass, RefusesUnitsThatAreNotThere) {
  const auto model = make_model(test::small(ModelKind::lm));
  const NoGrad off;
  const Batch batch = test::AnyData(model->config()).batch(0, 2);
  const KeptPass pass(*model, batch);
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { pass.ended(0, 5); }, {"4 units", "after 5"}));
}

}  // namespace
}  // namespace addnorm
