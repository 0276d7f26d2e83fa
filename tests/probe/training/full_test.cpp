// The full set: what it measures by running the model otherwise, and that the model is left alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/data/language.h"
#include "addnorm/probe/probe.h"
#include "addnorm/residual/catalogue.h"
#include "core/json/json.h"
#include "probe/training/full_probe.h"
#include "probe/training/roles.h"
#include "support/models/any_data.h"
#include "support/modules.h"
#include "support/streams/small_models.h"
#include "support/streams/stream_runs.h"
#include "support/test_names.h"

namespace addnorm {
namespace {

using test::AnyData;

struct Trained {
  std::vector<ProbeRecord> records;
  std::vector<std::vector<float>> values;  // parameters and running statistics
};
Trained trained(const ModelConfig& config, ProbeLevel level, TrainerOptions options = {.batch_size = 4}) {
  const auto model = make_model(config);
  test::scramble(*model);
  const AnyData data(config);
  options.schedule = {.rate = 1e-2, .steps = 10};
  Trainer trainer(*model, data, options);
  Trained all;
  Probe probe({.level = level, .every = 1}, [&](const ProbeRecord& record) { all.records.push_back(record); });
  trainer.observe(&probe);
  trainer.calibrate();
  for (int i = 0; i < 3; ++i) trainer.step();
  const auto keep = [&](const Tensor& value) {
    all.values.emplace_back(value.values<float>().begin(), value.values<float>().end());
  };
  for_each_parameter(*model, [&](Parameter& p) { keep(p.value.value()); });
  for_each_buffer(*model, [&](const std::string&, Tensor& value) { keep(value); });
  return all;
}

class EveryKind : public testing::TestWithParam<ModelKind> {};
INSTANTIATE_TEST_SUITE_P(Models, EveryKind,
                         testing::Values(ModelKind::lm, ModelKind::encoder, ModelKind::seq2seq, ModelKind::classifier,
                                         ModelKind::mlp),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });

TEST_P(EveryKind, IsLeftAloneByTheFullSet) {
  for (const std::string norm : {"layernorm", "batchnorm"}) {
    ModelConfig config = test::small(GetParam(), "post-ln");
    config.norm = norm;
    config.dropout = 0.1;
    const Trained off = trained(config, ProbeLevel::off), full = trained(config, ProbeLevel::full);
    ASSERT_EQ(full.records.size(), 3);
    ASSERT_EQ(full.values.size(), off.values.size());
    for (std::size_t i = 0; i < off.values.size(); ++i) EXPECT_SAME_BITS(full.values[i], off.values[i]);
  }
}

TEST_P(EveryKind, HasTheFullSetForEveryStack) {
  const Trained full = trained(test::small(GetParam(), "post-ln"), ProbeLevel::full);
  const ProbeRecord& record = full.records.at(2);
  ASSERT_EQ(record.stacks.size(), GetParam() == ModelKind::seq2seq ? 2 : 1);
  for (const StackRecord& s : record.stacks) {
    const std::size_t units = s.units.size();
    for (const auto* by_place : {&s.max_over_median, &s.kurtosis, &s.token_similarity, &s.stable_rank, &s.effective_rank}) {
      ASSERT_EQ(by_place->size(), units + 1);
      for (const double v : *by_place) EXPECT_TRUE(std::isfinite(v));
    }
    for (const auto* by_unit : {&s.drift_mean, &s.drift_deviation, &s.bypass_change, &s.lens_loss, &s.lens_kl, &s.skip_share}) {
      ASSERT_EQ(by_unit->size(), units);
      for (const double v : *by_unit) EXPECT_TRUE(std::isfinite(v));
    }
    EXPECT_EQ(s.position_accuracy.size(), GetParam() == ModelKind::mlp ? 0 : units + 1);
    EXPECT_EQ(s.dependency.size(), units + 1);
    EXPECT_EQ(s.dependency.at(0).size(), units + 2);
    EXPECT_EQ(s.logit_attribution.size(), s.name == "encoder" ? 0 : units + 2);
    EXPECT_EQ(s.lens_loss.back(), record.probe_loss.value()) << "the lens at the last unit is the model";
    EXPECT_NEAR(s.lens_kl.back(), 0, 1e-12);
  }
  EXPECT_GT(record.model_change.value(), 0);
  for (const RoleRecord& role : record.roles) EXPECT_TRUE(role.gradient_snr.has_value()) << role.role;
}

class EveryArrangement : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryArrangement, testing::ValuesIn(arrangement_names()), test::name_of_test);

TEST_P(EveryArrangement, HasTheFullSetAndComponentsWhereItIsARow) {
  const Trained full = trained(test::small(ModelKind::lm, GetParam()), ProbeLevel::full);
  const StackRecord& s = full.records.at(1).stacks.at(0);
  EXPECT_EQ(s.effective_rank.size(), 5);
  for (const auto* by_unit : {&s.drift_mean, &s.bypass_change, &s.lens_loss, &s.lens_kl}) EXPECT_EQ(by_unit->size(), 4);
  const bool row = arrangement_named(GetParam()).is_row();
  EXPECT_EQ(s.dependency.size(), row ? 5 : 0);
  EXPECT_EQ(s.skip_share.size(), row ? 4 : 0);
  EXPECT_EQ(s.skip_gain.has_value(), row);
  EXPECT_EQ(s.logit_attribution.size(), row ? 6 : 0);
}

// Inside a whole model: what arrives at the stream is the one addition of what came along the skip and through the branch.
TEST_P(EveryArrangement, SkipAndBranchAddUpToTheGradientBitForBit) {
  const ModelConfig config = test::small(ModelKind::lm, GetParam());
  const auto model = make_model(config);
  test::scramble(*model);
  test::Listener listener;
  listener.retain = true;
  const Batch batch = AnyData(config).batch(0, 3);
  const Var logits = batch_logits(*model, batch, {.train = true}, {.stream = &listener});
  backward(cross_entropy(logits, batch.labels, {.ignore_index = kIgnoredLabel}));
  const bool third_way = GetParam() == "resi-dual" || GetParam() == "denseformer";
  std::size_t compared = 0;
  for (const auto& parting : listener.partings) {
    if (parting.unit.index == 0 && third_way) continue;  // the stack's input goes past all units too
    const Tensor &skip = parting.skip.grad(), &branch = parting.branch.grad();
    std::vector<float> sum(skip.elements());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = skip.data<float>()[i] + branch.data<float>()[i];
    EXPECT_SAME_BITS(sum, parting.whole.grad().values<float>()) << parting.unit.index;
    ++compared;
  }
  EXPECT_EQ(compared > 0, GetParam() != "plain" && GetParam() != "plain-ln");
}

// By-passing a unit of pre-ln is the same as a branch whose output map is 0.
TEST(ByPass, OfPreLnIsAnOutputMapOfZeros) {
  const ModelConfig config = test::small(ModelKind::lm, "pre-ln");
  const auto model = make_model(config);
  test::scramble(*model);
  const NoGrad off;
  const Batch batch = AnyData(config).batch(0, 3);
  const Var logits = batch_logits(*model, batch, {});
  const double loss = batch_loss(*model, batch, {}).value().item();
  StackRecord record;
  run_cut(*model, batch, {logits.value(), loss}, "stack", 4, record);
  const auto names = std::vector<std::string>{"layers.0.self.out", "layers.0.ffn.out", "layers.1.self.out", "layers.1.ffn.out"};
  for (std::size_t unit = 0; unit < names.size(); ++unit) {
    std::vector<std::pair<Var*, Tensor>> before;
    for_each_parameter(*model, [&](Parameter& p) {
      if (!p.path.starts_with(names[unit])) return;
      before.emplace_back(&p.value, p.value.value());
      p.value.value() = Tensor::zeros(p.value.shape());
    });
    ASSERT_EQ(before.size(), 2) << "weight and bias";
    EXPECT_EQ(record.bypass_change[unit], batch_loss(*model, batch, {}).value().item() - loss) << names[unit];
    for (auto& [value, kept] : before) value->value() = kept;
  }
  EXPECT_NE(record.bypass_change[0], 0);
  EXPECT_EQ(record.lens_loss.back(), loss);
}

TEST(CutPasses, AreOfFewerSequencesInDeepModels) {
  EXPECT_EQ(cut_sequences(32, 4), 8);
  EXPECT_EQ(cut_sequences(5, 4), 5);
  EXPECT_EQ(cut_sequences(32, 24), 8);
  EXPECT_EQ(cut_sequences(32, 48), 4);
  EXPECT_EQ(cut_sequences(32, 1000), 2);
}

TEST(Divergence, IsThatOfTwoCoins) {
  const Batch batch{.sequences = 2, .labels = {0, kIgnoredLabel}};
  const Tensor p = Tensor::of({2, 2}, {std::log(3.0f), 0, 5, 0}), q = Tensor::of({2, 2}, {0, 0, 0, 5});
  EXPECT_NEAR(mean_divergence(p, q, batch), 0.75 * std::log(1.5) + 0.25 * std::log(0.5), 1e-7);
}

TEST(Sequences, OfABatchAreItsMiddle) {
  const Batch all = AnyData(test::small(ModelKind::seq2seq)).batch(10, 4), some = sequences_of(all, 1, 2);
  EXPECT_EQ(some.first, 11);
  EXPECT_EQ(some.sequences, 2);
  EXPECT_EQ(some.lengths, (std::vector<std::size_t>{5, 4}));
  EXPECT_TRUE(std::ranges::equal(some.ids, std::span(all.ids).subspan(6, 12)));
  EXPECT_TRUE(std::ranges::equal(some.labels, std::span(all.labels).subspan(6, 12)));
  EXPECT_TRUE(some.target_lengths.empty());
}

// Equal sequences have equal gradients: nothing but signal.
TEST(GradientSnr, IsEndlessWithoutNoiseAndPutsGradientsBack) {
  const ModelConfig config = test::small(ModelKind::lm);
  const auto model = make_model(config);
  Batch batch = AnyData(config).batch(0, 4);
  batch.lengths.clear();
  for (std::size_t s = 1; s < 4; ++s) {
    std::copy_n(batch.ids.begin(), 6, batch.ids.begin() + static_cast<std::ptrdiff_t>(6 * s));
    std::copy_n(batch.labels.begin(), 6, batch.labels.begin() + static_cast<std::ptrdiff_t>(6 * s));
  }
  for_each_parameter(*model, [](Parameter& p) { p.value.grad() = Tensor::full(p.value.shape(), 7); });
  for (const auto& [role, ratio] : gradient_snr(*model, batch)) EXPECT_TRUE(std::isnan(ratio) || ratio > 1e10) << role << ratio;
  for_each_parameter(*model, [](Parameter& p) { EXPECT_EQ(p.value.grad().values<float>()[0], 7) << p.path; });
  EXPECT_TRUE(gradient_snr(*model, sequences_of(batch, 0, 1)).empty());
}

TEST(GradientSnr, IsThatOfTheWholeBatchThoughASequenceIsLeftOver) {
  const ModelConfig config = test::small(ModelKind::lm);
  const auto model = make_model(config);
  const Batch batch = AnyData(config).batch(0, 5);
  const auto of_four = gradient_snr(*model, sequences_of(batch, 0, 4)), of_five = gradient_snr(*model, batch);
  ASSERT_EQ(of_five.size(), of_four.size());
  for (const auto& [role, ratio] : of_four) {
    if (std::isnan(ratio)) continue;
    EXPECT_NEAR(of_five.at(role), ratio * 5 / 4, 1e-9 * ratio) << role;
  }
}

TEST(FullSet, IsOneLineOfJson) {
  const Trained full = trained(test::small(ModelKind::lm, "post-ln"), ProbeLevel::full);
  const Json json = parsed(to_json(full.records.at(1)), "the record");
  const Json& stack = json["stacks"][0];
  for (const char* name :
       {"max_over_median", "kurtosis", "token_similarity", "stable_rank", "effective_rank", "position_accuracy", "dependency",
        "drift_mean", "drift_deviation", "bypass_change", "lens_loss", "lens_kl", "skip_share", "logit_attribution", "skip_gain"})
    EXPECT_TRUE(stack.contains(name)) << name;
  EXPECT_EQ(stack["dependency"][4].size(), 6);
  EXPECT_TRUE(json.contains("probe_loss") && json.contains("model_change"));
  EXPECT_TRUE(json["roles"]["q"].contains("gradient_snr"));
  const Trained on = trained(test::small(ModelKind::lm, "post-ln"), ProbeLevel::on);
  const Json less = parsed(to_json(on.records.at(1)), "the record");
  EXPECT_FALSE(less["stacks"][0].contains("kurtosis") || less.contains("probe_loss") ||
               less["roles"]["q"].contains("gradient_snr"));
}

TEST(FullSet, IsTheSameWithRecomputeAndOfTheFirstPart) {
  const ModelConfig config = test::small(ModelKind::lm, "pre-ln");
  const TrainerOptions usual{.batch_size = 4, .accumulate = 2}, less{.batch_size = 4, .accumulate = 2, .recompute = true};
  const Trained off = trained(config, ProbeLevel::off, less), full = trained(config, ProbeLevel::full, less),
                same = trained(config, ProbeLevel::full, usual);
  for (std::size_t i = 0; i < off.values.size(); ++i) EXPECT_SAME_BITS(full.values[i], off.values[i]);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(full.records.at(i).stacks[0].lens_loss, same.records.at(i).stacks[0].lens_loss);
    EXPECT_EQ(full.records[i].stacks[0].effective_rank, same.records[i].stacks[0].effective_rank);
    EXPECT_EQ(full.records[i].model_change, same.records[i].model_change);
  }
  // Without dropout the loss of the first part is that of the full set's own passes.
  EXPECT_DOUBLE_EQ(same.records[0].probe_loss.value(), same.records[0].loss);
}

TEST(FullSet, SurvivesAModelThatIsNoNumberAnyMore) {
  const ModelConfig config = test::small(ModelKind::lm, "post-ln");
  const auto model = make_model(config);
  for_each_parameter(*model, [](Parameter& p) {
    if (p.path == "layers.0.ffn.in.weight") p.value.value().values<float>()[3] = std::nanf("");
  });
  const AnyData data(config);
  Trainer trainer(*model, data, {.batch_size = 4, .on_nan = OnNan::skip, .schedule = {.steps = 10}});
  std::size_t records = 0;
  Probe probe({.level = ProbeLevel::full, .every = 1}, [&](const ProbeRecord&) { ++records; });
  trainer.observe(&probe);
  EXPECT_EQ(trainer.step().outcome, StepOutcome::skipped);
  EXPECT_EQ(records, 0) << "there was no update";
}

TEST(FullSet, MeasuresABatchOfOneSequenceAsFarAsItGoes) {
  const Trained full = trained(test::small(ModelKind::lm), ProbeLevel::full, {.batch_size = 1});
  const ProbeRecord& record = full.records.at(1);
  EXPECT_TRUE(record.stacks[0].position_accuracy.empty());
  EXPECT_FALSE(record.roles[0].gradient_snr.has_value());
  EXPECT_EQ(record.stacks[0].lens_loss.size(), 4);
}

}  // namespace
}  // namespace addnorm
