// Probes measure what they say, and change nothing.
#include "addnorm/probe/probe.h"

#include <gtest/gtest.h>

#include <cmath>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/data/language.h"
#include "addnorm/data/tasks.h"
#include "addnorm/residual/catalogue.h"
#include "core/json/json.h"
#include "probe/measures/attention_scores.h"
#include "probe/measures/measures.h"
#include "probe/training/stream_probe.h"
#include "support/near.h"
#include "support/streams/stream_runs.h"
#include "support/test_names.h"

namespace addnorm {
namespace {

using test::normal_tensor;

ModelConfig tiny(const std::string& arrangement, std::size_t layers = 3) {
  ModelConfig config{.layers = layers, .d_model = 16, .heads = 2, .seq_len = 8};
  config.vocab = Language().vocabulary();
  config.arrangement = arrangement;
  return config;
}

struct ProbedTraining {
  std::vector<ProbeRecord> records;
  std::vector<std::vector<float>> weights;
};
ProbedTraining train(const ModelConfig& config, ProbeLevel level, bool recompute = false, std::size_t steps = 4) {
  const auto model = make_model(config);
  const auto data = Language().dataset(8, 5);
  Trainer trainer(*model, *data,
                  {.batch_size = 3, .accumulate = 2, .recompute = recompute, .schedule = {.rate = 1e-2, .steps = 10}});
  ProbedTraining all;
  Probe probe({.level = level, .every = 1}, [&](const ProbeRecord& record) { all.records.push_back(record); });
  trainer.observe(&probe);
  trainer.calibrate();
  for (std::size_t i = 0; i < steps; ++i) trainer.step();
  for_each_parameter(*model, [&](Parameter& p) {
    const auto values = p.value.value().values<float>();
    all.weights.emplace_back(values.begin(), values.end());
  });
  return all;
}

class EveryProbed : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryProbed, testing::ValuesIn(arrangement_names()), test::name_of_test);

TEST_P(EveryProbed, LearnsTheSameBitsWithProbesOffOnAndFull) {
  const ProbedTraining off = train(tiny(GetParam()), ProbeLevel::off);
  EXPECT_TRUE(off.records.empty());
  for (const ProbeLevel level : {ProbeLevel::on, ProbeLevel::full}) {
    const ProbedTraining on = train(tiny(GetParam()), level);
    ASSERT_EQ(on.records.size(), 4);
    ASSERT_EQ(on.weights.size(), off.weights.size());
    for (std::size_t i = 0; i < off.weights.size(); ++i) EXPECT_SAME_BITS(on.weights[i], off.weights[i]);
  }
}

TEST_P(EveryProbed, HasAValueForEveryPlaceAndUnit) {
  const ProbedTraining on = train(tiny(GetParam()), ProbeLevel::on, false, 1);
  const StackRecord& s = on.records.at(0).stacks.at(0);
  ASSERT_EQ(s.units.size(), 6);
  EXPECT_EQ(s.units[3], "layers.1.ffn");
  for (const auto* by_place : {&s.stream_rms, &s.stream_mean, &s.spread, &s.gradient_norm}) EXPECT_EQ(by_place->size(), 7);
  for (const auto* by_unit : {&s.branch_rms, &s.update_ratio, &s.cosine, &s.attention_entropy, &s.max_logit})
    EXPECT_EQ(by_unit->size(), 6);
  for (const double rms : s.stream_rms) EXPECT_TRUE(std::isfinite(rms) && rms > 0);
  for (const double g : s.gradient_norm) EXPECT_TRUE(std::isfinite(g));
  const bool no_skip = GetParam() == "plain" || GetParam() == "plain-ln";
  EXPECT_EQ(s.gradient_skip.size(), no_skip ? 0 : 6);
  EXPECT_TRUE(std::isfinite(s.attention_entropy[0]));
  EXPECT_TRUE(std::isnan(s.attention_entropy[1]));  // a feed-forward unit attends to nothing
}

TEST(Probe, GivesValuesWithoutUnitGradientsUnderRecompute) {
  const ProbedTraining usual = train(tiny("pre-ln"), ProbeLevel::on), less = train(tiny("pre-ln"), ProbeLevel::on, true);
  EXPECT_EQ(less.records[3].stacks[0].stream_rms, usual.records[3].stacks[0].stream_rms);
  for (std::size_t i = 0; i < usual.weights.size(); ++i) EXPECT_SAME_BITS(less.weights[i], usual.weights[i]);
}

TEST(Probe, NamesBothStacksOfAnEncoderDecoderAndLeavesPaddingOut) {
  const Task task(TaskKind::reverse, {.least = 2, .most = 6});
  ModelConfig config{.model = ModelKind::seq2seq,
                     .vocab = task.tokenizer()->vocabulary(),
                     .layers = 2,
                     .d_model = 16,
                     .heads = 2,
                     .seq_len = 16};
  config.arrangement = "post-ln";
  const auto model = make_model(config);
  const auto data = task.dataset(1);
  Trainer trainer(*model, *data, {.batch_size = 6, .schedule = {.steps = 10}});
  std::vector<ProbeRecord> records;
  Probe probe({.level = ProbeLevel::on, .every = 1}, [&](const ProbeRecord& record) { records.push_back(record); });
  trainer.observe(&probe);
  const Batch batch = data->batch(0, 6);
  ASSERT_FALSE(batch.lengths.empty());
  test::Listener listener;
  {
    const NoGrad off;
    batch_logits(*model, batch, {.train = true}, {.stream = &listener});
  }
  trainer.step();
  ASSERT_EQ(records.at(0).stacks.size(), 2);
  EXPECT_EQ(records[0].stacks[0].name, "encoder");
  EXPECT_EQ(records[0].stacks[1].name, "decoder");
  EXPECT_EQ(records[0].stacks[1].units.at(1), "layers.0.cross");
  // The mean square over the tokens that are there, by itself.
  const Tensor& x = listener.streams.at(1).value();
  double squares = 0, count = 0;
  for (std::size_t b = 0; b < 6; ++b)
    for (std::size_t t = 0; t < batch.lengths[b]; ++t)
      for (std::size_t i = 0; i < 16; ++i, ++count) {
        const double v = x.data<float>()[(b * x.shape()[1] + t) * 16 + i];
        squares += v * v;
      }
  EXPECT_NEAR(records[0].stacks[0].stream_rms[1], std::sqrt(squares / count), 1e-12);
}

// Against sums written out here.
TEST(Measures, AreTheirFormulas) {
  const std::size_t rows = 5, width = 7;
  const Tensor a = normal_tensor({rows, width}, 1), b = normal_tensor({rows, width}, 2);
  const auto at = [&](const Tensor& x, std::size_t r, std::size_t i) {
    return static_cast<double>(x.data<float>()[r * width + i]);
  };
  double sum = 0, squares = 0, centred = 0, cosines = 0;
  for (std::size_t i = 0; i < width; ++i) {
    double mean = 0;
    for (std::size_t r = 0; r < rows; ++r) mean += at(a, r, i) / static_cast<double>(rows);
    for (std::size_t r = 0; r < rows; ++r) centred += std::pow(at(a, r, i) - mean, 2);
  }
  for (std::size_t r = 0; r < rows; ++r) {
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t i = 0; i < width; ++i) {
      sum += at(a, r, i);
      ab += at(a, r, i) * at(b, r, i);
      aa += at(a, r, i) * at(a, r, i);
      bb += at(b, r, i) * at(b, r, i);
    }
    squares += aa;
    cosines += ab / std::sqrt(aa * bb) / static_cast<double>(rows);
  }
  const Moments m = moments(a, {});
  EXPECT_NEAR(m.rms, std::sqrt(squares / (rows * width)), 1e-12);
  EXPECT_NEAR(m.mean, sum / (rows * width), 1e-12);
  EXPECT_NEAR(m.spread, std::sqrt(centred / squares), 1e-12);
  EXPECT_NEAR(norm(a), std::sqrt(squares), 1e-12);
  EXPECT_NEAR(mean_cosine(a, b, {}), cosines, 1e-12);
}

TEST(Measures, FindNoSpreadWhereAllTokensAreAlike) {
  Tensor x({4, 3});
  for (std::size_t i = 0; i < 12; ++i) x.data<float>()[i] = static_cast<float>(i % 3) + 1.0f;
  EXPECT_NEAR(moments(x, {}).spread, 0, 1e-7);
  EXPECT_EQ(moments(Tensor::zeros({4, 3}), {}).spread, 0);
}

// Scores of attention, by the softmax of the library.
TEST(AttentionSeen, IsTheEntropyOfTheSoftmax) {
  const std::size_t tokens = 6, d = 4;
  const AttentionScores scores{.q = normal_tensor({1, tokens, d}, 1),
                               .k = normal_tensor({1, tokens, d}, 2),
                               .options = {.heads = 1, .causal = true},
                               .scale = 0.5};
  double sum = 0, largest = 0;
  for (std::size_t t = 1; t < tokens; ++t) {
    std::vector<double> row;
    for (std::size_t s = 0; s <= t; ++s) {
      double dot = 0;
      for (std::size_t i = 0; i < d; ++i)
        dot +=
            0.5 * static_cast<double>(scores.q.data<float>()[t * d + i]) * static_cast<double>(scores.k.data<float>()[s * d + i]);
      row.push_back(dot);
    }
    double z = 0, entropy = 0;
    for (const double v : row) z += std::exp(v);
    for (const double v : row) entropy -= std::exp(v) / z * std::log(std::exp(v) / z);
    sum += entropy / std::log(static_cast<double>(row.size()));
  }
  for (std::size_t t = 0; t < tokens; ++t)
    for (std::size_t s = 0; s <= t; ++s) {
      double dot = 0;
      for (std::size_t i = 0; i < d; ++i)
        dot +=
            0.5 * static_cast<double>(scores.q.data<float>()[t * d + i]) * static_cast<double>(scores.k.data<float>()[s * d + i]);
      largest = std::max(largest, std::abs(dot));
    }
  const AttentionSeen seen = look_at(scores);
  EXPECT_NEAR(seen.entropy, sum / (tokens - 1), 1e-12);
  EXPECT_NEAR(seen.max_logit, largest, 1e-12);
}

TEST(AttentionSeen, IsOneWhereAllKeysAreAlike) {
  const AttentionScores scores{
      .q = Tensor::zeros({2, 5, 4}), .k = normal_tensor({2, 5, 4}, 2), .options = {.heads = 2}, .scale = 1};
  EXPECT_DOUBLE_EQ(look_at(scores).entropy, 1);
}

TEST(AttentionSeen, IsNothingWhereAScoreIsNoNumber) {
  AttentionScores scores{.q = normal_tensor({2, 5, 4}, 1), .k = normal_tensor({2, 5, 4}, 2), .options = {.heads = 2}, .scale = 1};
  scores.q.data<float>()[21] = std::nanf("");
  EXPECT_TRUE(std::isnan(look_at(scores).max_logit));
  EXPECT_TRUE(std::isnan(look_at(scores).entropy));
}

TEST(AttentionSeen, LeavesOutQueriesThatArePadding) {
  const AttentionScores scores{
      .q = normal_tensor({2, 5, 4}, 1), .k = normal_tensor({2, 5, 4}, 2), .options = {.heads = 2}, .scale = 1};
  AttentionScores padded = scores;
  padded.q = scores.q.clone();
  for (std::size_t i = 3 * 4; i < 5 * 4; ++i) padded.q.data<float>()[i] = 1000;  // after three tokens of the first sequence
  const std::vector<std::size_t> lengths{3, 5};
  EXPECT_EQ(look_at(padded, lengths).max_logit, look_at(scores, lengths).max_logit);
  EXPECT_EQ(look_at(padded, lengths).entropy, look_at(scores, lengths).entropy);
  EXPECT_GT(look_at(padded).max_logit, 100);
}

TEST(Probe, GivesGradientsOfTheLossBesideThemWhateverIsAccumulated) {
  std::vector<ProbeRecord> records;
  for (const std::size_t accumulate : {1u, 4u}) {
    const auto model = make_model(tiny("pre-ln"));
    const auto data = Language().dataset(8, 5);
    Trainer trainer(*model, *data, {.batch_size = 3, .accumulate = accumulate, .schedule = {.rate = 1e-2, .steps = 10}});
    Probe probe({.level = ProbeLevel::on, .every = 1}, [&](const ProbeRecord& record) { records.push_back(record); });
    trainer.observe(&probe);
    trainer.step();
  }
  const StackRecord &whole = records.at(0).stacks.at(0), &part = records.at(1).stacks.at(0);
  EXPECT_EQ(records[0].loss, records[1].loss);
  const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5 * std::abs(a[i])) << i;
  };
  same(whole.gradient_norm, part.gradient_norm);
  same(whole.gradient_skip, part.gradient_skip);
  same(whole.gradient_branch, part.gradient_branch);
}

TEST(Probe, CountsTheTimeOfWhatItMeasuresInTheForwardPass) {
  StreamProbe probe("stack");
  probe.begin({});
  EXPECT_EQ(probe.seconds(), 0);
  probe.on_stream(nullptr, Var(normal_tensor({64, 64, 64}, 1)));
  EXPECT_GT(probe.seconds(), 0);
}

TEST(Probe, RecordsTheStepOfAnUpdateByRole) {
  const ProbedTraining on = train(tiny("pre-ln"), ProbeLevel::on, false, 1);
  bool gains = false;
  for (const RoleRecord& role : on.records[0].roles) {
    EXPECT_GT(role.gradient_norm, 0) << role.role;
    if (role.role == "norm_gain") {
      gains = true;
      EXPECT_NEAR(role.update_to_weight, 1e-2, 2e-4);  // Adam's first step is the rate, and gains are 1
    }
  }
  EXPECT_TRUE(gains);
}

TEST(Probe, WritesOneLineOfJson) {
  const ProbedTraining on = train(tiny("plain"), ProbeLevel::on, false, 1);
  const Json json = parsed(to_json(on.records[0]), "the record");
  EXPECT_EQ(json["step"].integer(), 1);
  EXPECT_EQ(json["stacks"][0]["stream_rms"].size(), 7);
  EXPECT_FALSE(json["stacks"][0].contains("gradient_skip"));
  EXPECT_TRUE(json["stacks"][0]["max_logit"][1].is_null());
}

TEST(Probe, ComesOftenAtFirstAndThenAtItsInterval) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 1; step <= 40; ++step)
    if (is_probed(step, 10)) steps.push_back(step);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{1, 2, 4, 8, 10, 20, 30, 40}));
}

}  // namespace
}  // namespace addnorm
