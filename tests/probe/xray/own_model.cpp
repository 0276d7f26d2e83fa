// Models of other programs, derived from Model: what they can do as ours do, and how they are refused when they cannot.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "addnorm/probe/probe.h"
#include "addnorm/probe/xray.h"
#include "addnorm/train/trainer.h"
#include "support/models/training.h"
#include "support/near.h"

#define main program_with_its_own_model
#include "../examples/own_model.cpp"
#undef main

namespace addnorm {
namespace {

using test::throws_saying;

ModelConfig pair_config() {
  ModelConfig config = test::tiny_config();
  config.tied = false;
  return config;
}
std::unique_ptr<Dataset> pair_data() { return Language().dataset(pair_config().seq_len, 5); }

TEST(OwnModel, TrainsIsProbedGoesOnFromItsCheckpointAndIsXrayed) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(program_with_its_own_model(), 0);
  const std::string said = testing::internal::GetCapturedStdout();
  for (const char* text : {"step 30: loss", "resumed with the same bits", "without layers.1.ffn the loss changes by"})
    EXPECT_NE(said.find(text), std::string::npos) << said;
}

TEST(OwnModel, IsProbedInFullAndLearnsTheSameBits) {
  const auto data = pair_data();
  PairModel watched(pair_config()), alone_(pair_config());
  Trainer trainer(watched, *data, test::tiny_options()), other(alone_, *data, test::tiny_options());
  std::vector<ProbeRecord> records;
  Probe probe({.level = ProbeLevel::full, .every = 4}, [&](const ProbeRecord& record) { records.push_back(record); });
  trainer.observe(&probe);
  for (int step = 0; step < 4; ++step) EXPECT_EQ(trainer.step().loss, other.step().loss);
  ASSERT_FALSE(records.empty());
  const StackRecord& stack = records.back().stacks.at(0);
  EXPECT_EQ(stack.units.size(), 4);
  EXPECT_EQ(stack.bypass_change.size(), 4);
  EXPECT_EQ(stack.gradient_norm.size(), 5);
}

TEST(OwnModel, HasItsLossInTheXrayAndPartsThatAddUp) {
  const auto data = pair_data();
  PairModel model(pair_config());
  const Batch batch = data->batch(0, 4);
  const XrayResult seen = xray(model, {batch});
  EXPECT_NEAR(seen.loss, batch_loss(model, batch, {}).value().item(), test::model_logits_tolerance().atol);
  EXPECT_EQ(seen.ln, AttributionNorm::frozen);
  const std::vector<double>& shares = seen.stacks.at(0).attribution;
  double sum = 0;
  for (const double share : shares) sum += share;
  EXPECT_NEAR(sum, seen.attributed, test::model_logits_tolerance().atol);
}

TEST(OwnModel, StartsAnewAsOneJustMade) {
  PairModel once(pair_config()), again(pair_config());
  again.initialise(7);
  again.initialise(1);
  std::vector<float> values, fresh;
  const auto into = [](std::vector<float>& all) {
    return [&all](Parameter& p) {
      const auto own = p.value.value().values<float>();
      all.insert(all.end(), own.begin(), own.end());
    };
  };
  for_each_parameter(once, into(fresh));
  for_each_parameter(again, into(values));
  EXPECT_SAME_BITS(std::span<const float>(values), std::span<const float>(fresh));
}

/// The same parameters, but it keeps one of the promises no longer.
struct Stackless : PairModel {
  using PairModel::PairModel;
  std::vector<Stack*> stacks() override { return {}; }
  std::string kind() const override { return "stackless"; }
};
struct Unwatched : PairModel {
  using PairModel::PairModel;
  Var body(const ModelInput& input, const Pass& pass, const StreamObservers&) const override {
    return PairModel::body(input, pass, {});
  }
};
struct Longer : PairModel {
  using PairModel::PairModel;
  Var body(const ModelInput& input, const Pass& pass, const StreamObservers& watch) const override {
    return relu(PairModel::body(input, pass, watch));
  }
};
struct WithoutBlank : PairModel {
  using PairModel::PairModel;
  std::unique_ptr<Model> blank() const override { return Model::blank(); }
};
struct Headless : PairModel {
  using PairModel::PairModel;
  bool has_head() const override { return false; }
};

TEST(OwnModel, WithoutStacksTrainsUnderAProbeAndIsRefusedByTheXrayByItsKind) {
  const auto data = pair_data();
  Stackless model(pair_config());
  Trainer trainer(model, *data, test::tiny_options());
  Probe probe({.level = ProbeLevel::full, .every = 1}, [](const ProbeRecord&) {});
  trainer.observe(&probe);
  EXPECT_TRUE(std::isfinite(trainer.step().loss));
  EXPECT_TRUE(throws_saying<UsageError>([&] { xray(model, {data->batch(0, 2)}); },
                                        {"xray", "a model of kind stackless names no stack", "override Model::stacks()"}));
}

TEST(OwnModel, ThatHidesItsStackOrGoesOnAfterItIsRefusedByTheXrayWithWhatToDo) {
  const auto data = pair_data();
  Unwatched unwatched(pair_config());
  Longer longer(pair_config());
  const std::vector<Batch> batches{data->batch(0, 2)};
  EXPECT_TRUE(
      throws_saying<UsageError>([&] { xray(unwatched, batches); }, {"pair model", "stack 0 of 1", "hand it its observer"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { xray(longer, batches); }, {"pair model", "belongs in head()"}));
}

TEST(OwnModel, WithoutBlankIsNotStartedAnewAndTheReasonIsGiven) {
  WithoutBlank model(pair_config());
  EXPECT_TRUE(throws_saying<UsageError>([&] { model.initialise(2); }, {"before.weight", "pair model", "override blank()"}));
}

TEST(OwnModel, WithoutHeadHasNoLogits) {
  const auto data = pair_data();
  const Headless model(pair_config());
  EXPECT_TRUE(
      throws_saying<UsageError>([&] { batch_logits(model, data->batch(0, 2), {}); }, {"pair model", "has no head", "body()"}));
}

}  // namespace
}  // namespace addnorm
