// What an x-ray says is what other ways of looking give.
#include "addnorm/probe/xray.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "addnorm/autograd/tape.h"
#include "addnorm/residual/catalogue.h"
#include "core/json/json.h"
#include "probe/measures/components.h"
#include "probe/measures/token_measures.h"
#include "probe/training/stream_probe.h"
#include "probe/xray/kept_pass.h"
#include "probe/xray/stream_xray.h"
#include "support/models/any_data.h"
#include "support/modules.h"
#include "support/streams/every_arrangement.h"
#include "support/streams/stream_runs.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::EveryArrangement;
struct Looked {
  explicit Looked(const ModelConfig& config) : model(make_model(config)), batch(test::AnyData(config).batch(0, 3)) {
    test::scramble(*model);
  }
  XrayResult xray(const XrayOptions& options = {}) const { return addnorm::xray(*model, {batch}, options); }
  void convert_to_double() { convert(*model, DType::f64); }

  std::unique_ptr<Model> model;
  Batch batch;
};

/// The branch of every unit at 0 in turn: its output map and bias are zeros.
template <class See>
void with_each_branch_zeroed(Model& model, std::size_t layers, See&& see) {
  for (std::size_t unit = 0; unit < 2 * layers; ++unit) {
    const std::string path = concat("layers.", unit / 2, unit % 2 == 0 ? ".self.out" : ".ffn.out");
    std::vector<std::pair<Var*, Tensor>> before;
    for_each_parameter(model, [&](Parameter& p) {
      if (!p.path.starts_with(path)) return;
      before.emplace_back(&p.value, p.value.value());
      p.value.value() = Tensor::zeros(p.value.shape());
    });
    ASSERT_EQ(before.size(), 2) << "weight and bias";
    see(unit);
    for (auto& [value, kept] : before) value->value() = kept;
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryArrangement, testing::ValuesIn(arrangement_names()), test::name_of_test);

TEST_P(EveryArrangement, LosesByAByPassWhatAZeroedBranchLosesBitForBit) {
  const Looked looked(test::small(ModelKind::lm, GetParam()));
  const XrayResult result = looked.xray();
  ASSERT_EQ(result.stacks.at(0).bypass_change.size(), 4);
  with_each_branch_zeroed(*looked.model, 2, [&](std::size_t unit) {
    EXPECT_EQ(result.stacks[0].bypass_change[unit], looked.xray().loss - result.loss) << unit;
  });
  EXPECT_EQ(result.stacks[0].lens.back(), result.loss) << "after the last unit the stack ends as it is";
  EXPECT_EQ(result.loss, looked.xray().loss) << "the model is as it was";
}

// Differences of lenses: whatever the arrangement, the sum telescopes to the output.
TEST_P(EveryArrangement, SharesOutTheLogitWithNormsComputedAnew) {
  const Looked looked(test::small(ModelKind::lm, GetParam()));
  const XrayResult result = looked.xray({.ln = AttributionNorm::recompute});
  const std::vector<double>& shares = result.stacks.at(0).attribution;
  ASSERT_EQ(shares.size(), 6);
  EXPECT_EQ(result.ln, AttributionNorm::recompute);
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), result.attributed, test::double_tolerance().atol);
}

TEST_P(EveryArrangement, SharesOutTheLogitWithFrozenNormsWhereItIsARow) {
  Looked looked(test::small(ModelKind::lm, GetParam()));
  looked.convert_to_double();
  const XrayResult result = looked.xray({.ln = AttributionNorm::frozen});
  const std::vector<double>& shares = result.stacks.at(0).attribution;
  const bool row = arrangement_named(GetParam()).is_row();
  ASSERT_EQ(shares.size(), row ? 6 : 0);
  ASSERT_EQ(result.stacks[0].branch_share.size(), row ? 4 : 0);
  if (!row) {
    EXPECT_EQ(result.ln, AttributionNorm::automatic);
    EXPECT_TRUE(std::ranges::any_of(result.missing, [](const auto& m) { return m.what == "attribution"; }));
    return;
  }
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), result.attributed, test::rounded_apart_tolerance().atol);
  // Head products of every component, the other way to the same numbers.
  const NoGrad off;
  Components components(*Components::row_of(residuals_of(*looked.model).stream), looked.batch.lengths);
  batch_logits(*looked.model, looked.batch, {}, {.stream = &components});
  components.take_exit();
  const std::vector<double> margins = logit_attribution(*looked.model, looked.batch, components);
  EXPECT_NEAR_ALL(std::span<const double>(shares), std::span<const double>(margins), test::rounded_apart_tolerance());
}

// Two matrices in a row are linear, too: OPT-350m's head.
TEST(Attribution, GoesThroughAProjectionBeforeTheHead) {
  for (const bool tied : {true, false}) {
    ModelConfig config = test::small(ModelKind::lm, "post-ln");
    config.d_embedding = 6;
    config.tied = tied;
    Looked looked(config);
    looked.convert_to_double();
    const XrayResult result = looked.xray();
    EXPECT_EQ(result.ln, AttributionNorm::frozen);
    const std::vector<double>& shares = result.stacks.at(0).attribution;
    ASSERT_EQ(shares.size(), 6);
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), result.attributed, test::rounded_apart_tolerance().atol);
    const NoGrad off;
    Components components(*Components::row_of(residuals_of(*looked.model).stream), looked.batch.lengths);
    batch_logits(*looked.model, looked.batch, {}, {.stream = &components});
    components.take_exit();
    const std::vector<double> margins = logit_attribution(*looked.model, looked.batch, components);
    EXPECT_NEAR_ALL(std::span<const double>(shares), std::span<const double>(margins), test::rounded_apart_tolerance());
  }
}

// All logits of all tokens, not only those of labels: what each place adds to the lens sums to them.
TEST(Attribution, OfLensesSumsToEveryLogit) {
  for (const std::string arrangement : {"pre-ln", "post-ln", "resi-dual"}) {
    Looked looked(test::small(ModelKind::lm, arrangement));
    const NoGrad off;
    const KeptPass pass(*looked.model, looked.batch);
    const Tensor logits = batch_logits(*looked.model, looked.batch, {}).value();
    std::vector<double> sum(logits.elements(), 0.0), last(logits.elements(), 0.0);
    for (std::size_t place = 0; place <= 4; ++place) {
      const Tensor lens = head_logits(*looked.model, looked.batch, pass.ended(0, place)).value();
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += static_cast<double>(lens.data<float>()[i]) - last[i];
        last[i] = static_cast<double>(lens.data<float>()[i]);
      }
    }
    EXPECT_NEAR_ALL(logits.values<float>(), std::span<const double>(sum), test::double_tolerance()) << arrangement;
  }
}

class EveryKindOfTokens : public testing::TestWithParam<ModelKind> {};
INSTANTIATE_TEST_SUITE_P(Models, EveryKindOfTokens,
                         testing::Values(ModelKind::lm, ModelKind::encoder, ModelKind::seq2seq, ModelKind::classifier),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });

TEST_P(EveryKindOfTokens, IsLookedIntoStackByStack) {
  for (const std::string arrangement : {"pre-ln", "post-ln", "denseformer"}) {
    ModelConfig config = test::small(GetParam(), arrangement);
    config.head_bias = true;
    Looked looked(config);
    looked.convert_to_double();
    const XrayResult result = looked.xray();
    ASSERT_EQ(result.stacks.size(), GetParam() == ModelKind::seq2seq ? 2 : 1);
    EXPECT_EQ(result.measure, GetParam() == ModelKind::encoder ? XrayMeasure::masked_loss : XrayMeasure::loss);
    for (const StackXray& s : result.stacks) {
      const std::size_t units = s.units.size();
      EXPECT_EQ(units, s.name == "decoder" ? 6 : 4);
      for (const auto* by_place : {&s.stream_rms, &s.lens}) EXPECT_EQ(by_place->size(), units + 1);
      for (const auto* by_unit : {&s.branch_rms, &s.update_ratio, &s.cosine, &s.attention_entropy, &s.bypass_change})
        EXPECT_EQ(by_unit->size(), units);
      EXPECT_EQ(s.block_influence.size(), 2);
      EXPECT_EQ(s.lens.back(), result.loss);
      for (const double v : s.bypass_change) EXPECT_TRUE(std::isfinite(v) && v != 0);
    }
    const std::vector<double>& shares = result.stacks.back().attribution;
    EXPECT_EQ(shares.size(), result.stacks.back().units.size() + 2);
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), result.attributed, test::rounded_apart_tolerance().atol);
  }
}

TEST(Xray, LooksIntoRowsOfNumbers) {
  const Looked looked(test::small(ModelKind::mlp, "pre-ln"));
  const XrayResult result = looked.xray();
  const StackXray& s = result.stacks.at(0);
  EXPECT_EQ(s.units, (std::vector<std::string>{"layers.0.ffn", "layers.1.ffn"}));
  EXPECT_TRUE(s.attention_entropy.empty());
  EXPECT_EQ(s.peaks.at(0).token, -1);
  EXPECT_EQ(s.lens.back(), result.loss);
  EXPECT_NEAR(std::accumulate(s.attribution.begin(), s.attribution.end(), 0.0), result.attributed,
              test::model_logits_tolerance().atol);
  EXPECT_TRUE(std::ranges::any_of(result.missing, [](const auto& m) { return m.what == "attention_entropy"; }));
}

// Without a head costs are distances of the pooled output, and its direction is what is shared out.
TEST(Xray, MeasuresAnEncoderWithoutHeadByItsEmbedding) {
  for (const Pooling pooling : {Pooling::mean, Pooling::first})
    for (const std::string arrangement : {"pre-ln", "post-ln", "resi-dual"}) {
      ModelConfig config = test::small(ModelKind::encoder, arrangement);
      config.head = false;
      config.pooling = pooling;
      const Looked looked(config);
      const XrayResult result = looked.xray();
      EXPECT_EQ(result.measure, XrayMeasure::embedding);
      EXPECT_TRUE(std::isnan(result.loss));
      const StackXray& s = result.stacks.at(0);
      EXPECT_NEAR(s.lens.back(), 0, test::double_tolerance().atol);
      EXPECT_GT(s.lens.front(), 0);
      EXPECT_NEAR(result.attributed, 1, test::double_tolerance().atol);
      EXPECT_NEAR(std::accumulate(s.attribution.begin(), s.attribution.end(), 0.0), 1, test::model_logits_tolerance().atol);
      const NoGrad off;
      const auto& encoder = dynamic_cast<const Encoder&>(*looked.model);
      const auto embedding = [&] {
        const Tokens tokens{.ids = looked.batch.ids, .batch = looked.batch.sequences, .lengths = looked.batch.lengths};
        return pooled(encoder(tokens), pooling, looked.batch.lengths).value();
      };
      const Tensor as_is = embedding();
      with_each_branch_zeroed(*looked.model, 2, [&](std::size_t unit) {
        const RunningMean close = cosines(as_is, embedding(), {});
        EXPECT_EQ(s.bypass_change[unit], (close.count - close.sum) / close.count) << unit;
      });
    }
}

TEST(Xray, SaysOfTheStreamWhatProbesSay) {
  for (const std::string arrangement : {"pre-ln", "post-ln", "deepnorm", "sandwich"}) {
    const Looked looked(test::small(ModelKind::lm, arrangement));
    const StackXray s = looked.xray().stacks.at(0);
    const NoGrad off;
    StreamProbe probe("stack");
    probe.begin(looked.batch.lengths);
    Components components(*Components::row_of(residuals_of(*looked.model).stream), looked.batch.lengths);
    test::Listener listener;
    batch_logits(*looked.model, looked.batch, {}, {.stream = &probe});
    batch_logits(*looked.model, looked.batch, {}, {.stream = &components});
    batch_logits(*looked.model, looked.batch, {}, {.stream = &listener});
    probe.read_gradients();
    const StackRecord& record = probe.record();
    const auto expect_near = [](const std::vector<double>& got, const std::vector<double>& want) {
      EXPECT_NEAR_ALL(std::span<const double>(got), std::span<const double>(want), test::double_tolerance());
    };
    EXPECT_EQ(s.units, record.units);
    expect_near(s.stream_rms, record.stream_rms);
    expect_near(s.branch_rms, record.branch_rms);
    expect_near(s.update_ratio, record.update_ratio);
    expect_near(s.cosine, record.cosine);
    expect_near(s.attention_entropy, record.attention_entropy);
    expect_near(s.max_logit, record.max_logit);
    const RowMask rows = rows_within(looked.batch.lengths, 6);
    for (std::size_t layer = 0; layer < 2; ++layer)
      EXPECT_NEAR(s.block_influence[layer],
                  1 - mean_cosine(listener.streams[2 * layer].value(), listener.streams[2 * layer + 2].value(), rows),
                  test::double_tolerance().atol);
    for (std::size_t u = 0; u < 4; ++u) {
      // ||a s|| by the share of the skip, which is measured in another way.
      const double f = rms(listener.branches[u].value(), rows);
      const double skip = std::sqrt(components.skip_squares()[u] / static_cast<double>(12 * std::ranges::count(rows, 1)));
      EXPECT_NEAR(s.branch_share[u], f * f / (f * f + skip * skip), test::double_tolerance().atol);
    }
    for (std::size_t place = 0; place < 5; ++place) {
      const double exact = max_over_median(listener.streams[place].value(), rows);
      EXPECT_NEAR(s.peaks[place].over_median, exact, exact / 256) << "half a bin";
    }
  }
}

TEST(Xray, FindsTheFeatureAndTheTokenOfAMassiveActivation) {
  Looked looked(test::small(ModelKind::lm, "pre-ln"));
  const std::int32_t token = looked.batch.ids[9];
  for_each_parameter(*looked.model, [&](Parameter& p) {
    if (p.role == Role::token_embedding) p.value.value().data<float>()[static_cast<std::size_t>(token) * 12 + 7] = -4000;
  });
  const XrayResult result = looked.xray();
  for (const StreamPeak& peak : result.stacks.at(0).peaks) {
    EXPECT_EQ(peak.feature, 7);
    EXPECT_EQ(peak.token, token);
    EXPECT_NEAR(peak.value, -4000, 50) << "branches write to it too";
    bool there = false;
    for (std::size_t s = 0; s < 3; ++s)
      there = there || (peak.position < looked.batch.lengths[s] && looked.batch.ids[6 * s + peak.position] == token);
    EXPECT_TRUE(there) << peak.position;
  }
  const std::vector<std::string> findings = findings_of(result);
  EXPECT_TRUE(std::ranges::any_of(findings, [](const std::string& f) { return f.starts_with("feature 7 is massive: "); }));
}

TEST(Xray, LeavesPaddingOut) {
  Looked looked(test::small(ModelKind::lm, "pre-ln"));
  const StackXray before = looked.xray().stacks.at(0);
  looked.batch.ids[11] = (looked.batch.ids[11] + 1) % 11;  // the second sequence has 5 tokens
  looked.batch.labels[11] = kIgnoredLabel;
  Looked same(test::small(ModelKind::lm, "pre-ln"));
  same.batch.labels[11] = kIgnoredLabel;
  const StackXray now = looked.xray().stacks.at(0), other = same.xray().stacks.at(0);
  EXPECT_EQ(now.stream_rms, before.stream_rms);
  EXPECT_EQ(now.cosine, before.cosine);
  EXPECT_EQ(now.branch_share, before.branch_share);
  EXPECT_EQ(now.bypass_change, other.bypass_change);
}

TEST(Xray, SaysWhichUnitsCouldGoAndWhatAllOfThemCost) {
  Looked looked(test::small(ModelKind::lm, "pre-ln"));
  for_each_parameter(*looked.model, [&](Parameter& p) {
    if (p.path.starts_with("layers.1.") && p.path.find(".out.") != std::string::npos)
      p.value.value() = Tensor::zeros(p.value.shape());
  });
  {  // What the model says itself is right, so that every unit that does something is needed.
    const NoGrad off;
    const Tensor logits = batch_logits(*looked.model, looked.batch, {}).value();
    for (std::size_t r = 0; r < looked.batch.labels.size(); ++r) {
      const float* row = logits.data<float>() + 11 * r;
      looked.batch.labels[r] = static_cast<std::int32_t>(std::max_element(row, row + 11) - row);
    }
  }
  const XrayResult result = looked.xray({.expendable = 1e-9});
  const Expendable& found = result.stacks.at(0).expendable;
  EXPECT_EQ(found.units, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(found.together, 0);
  // Two units that do something cost together what a pass without both costs.
  const XrayResult all = looked.xray({.expendable = 1e9});
  EXPECT_EQ(all.stacks.at(0).expendable.units.size(), 4);
  EXPECT_EQ(all.stacks.at(0).expendable.together, all.stacks.at(0).lens.front() - all.loss)
      << "nothing but the embedding is left";
  EXPECT_TRUE(looked.xray({.expendable = -1e9}).stacks.at(0).expendable.units.empty());
}

TEST(Xray, ShowsTheGainsOfEveryNorm) {
  ModelConfig config = test::small(ModelKind::lm, "sandwich");
  config.qk_norm = "rmsnorm";
  const Looked looked(config);
  for_each_parameter(*looked.model, [&](Parameter& p) {
    if (p.path != "residual.layers.1.ffn.out.weight") return;
    for (std::size_t i = 0; i < 12; ++i) p.value.value().data<float>()[i] = i == 3 ? -3.0f : 2.0f;
  });
  const XrayResult result = looked.xray();
  EXPECT_EQ(result.norms.size(), 4 * 2 + 1 + 2 * 2) << "in and out of units, the exit, q and k";
  const auto found = std::ranges::find(result.norms, "layers.1.ffn.out", &NormGains::name);
  ASSERT_NE(found, result.norms.end());
  EXPECT_EQ(found->slot, "out");
  EXPECT_EQ(found->unit, 3);
  EXPECT_EQ(found->least, -3);
  EXPECT_EQ(found->most, 2);
  EXPECT_NEAR(found->rms, std::sqrt((9 + 11 * 4) / 12.0), test::double_tolerance().atol);
  EXPECT_GT(found->bias_rms, 0);
  EXPECT_NE(std::ranges::find(result.norms, "exit", &NormGains::slot), result.norms.end());
  EXPECT_TRUE(std::isnan(std::ranges::find(result.norms, "q_norm", &NormGains::slot)->bias_rms));
}

TEST(Xray, AddsOneToGainsThatAreStoredWithoutIt) {
  ModelConfig config = test::small(ModelKind::lm, "pre-ln");
  config.norm = "rmsnorm-1p";
  const auto model = make_model(config);
  const Batch batch = test::AnyData(config).batch(0, 2);
  for (const NormGains& norm : xray(*model, {batch}).norms) {
    EXPECT_EQ(norm.rms, 1) << norm.name;
    EXPECT_EQ(norm.least, 1);
  }
}

TEST(Xray, HasTheSameBitsForAnyNumberOfThreads) {
  ModelConfig config = test::small(ModelKind::lm, "post-ln");
  config.d_model = 64;
  config.d_ff = 256;
  config.seq_len = 128;
  const auto model = make_model(config);
  Batch batch{.sequences = 4, .ids = test::ids(4 * 128, 11, 1), .labels = test::ids(4 * 128, 11, 2)};
  std::string first;
  test::with_every_thread_count([&] {
    XrayResult result = xray(*model, {batch});
    result.seconds = 0;
    if (first.empty()) first = to_json(result);
    EXPECT_EQ(to_json(result), first);
  });
}

// What batches are cut into changes roundings, and nothing else.
TEST(Xray, IsThatOfAllBatches) {
  const Looked looked(test::small(ModelKind::lm, "post-ln"));
  const Batch more = test::AnyData(looked.model->config()).batch(50, 4);
  const XrayResult both = xray(*looked.model, {looked.batch, more});
  EXPECT_EQ(both.sequences, 7);
  EXPECT_EQ(both.labels, looked.batch.counted() + more.counted());
  const XrayResult one = xray(*looked.model, {looked.batch}), other = xray(*looked.model, {more});
  const auto n = static_cast<double>(looked.batch.counted()), m = static_cast<double>(more.counted());
  EXPECT_NEAR(both.loss, (n * one.loss + m * other.loss) / (n + m), test::double_tolerance().atol);
  for (std::size_t u = 0; u < 4; ++u)
    EXPECT_NEAR(both.stacks[0].bypass_change[u],
                (n * one.stacks[0].bypass_change[u] + m * other.stacks[0].bypass_change[u]) / (n + m),
                test::double_tolerance().atol);
}

TEST(Xray, StopsWhenAsked) {
  const Looked looked(test::small(ModelKind::lm));
  std::vector<double> shares;
  const auto go_on = [&](double share) {
    shares.push_back(share);
    return shares.size() < 3;
  };
  EXPECT_TRUE(looked.xray({.go_on = go_on}).stopped);
  EXPECT_EQ(shares.size(), 3);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
}

TEST(Xray, StopsBeforeItsSecondLookWhenAsked) {
  const Looked looked(test::small(ModelKind::lm));
  const auto until_all_is_measured = [](double share) { return share < 1; };
  const auto measured_once = [seen = 0](double share) mutable { return share < 1 || ++seen < 2; };
  EXPECT_TRUE(looked.xray({.go_on = until_all_is_measured}).stopped);
  EXPECT_TRUE(looked.xray({.expendable = 1e9, .go_on = measured_once}).stopped)
      << "all units could go: they are left out at once";
  EXPECT_FALSE(looked.xray({.expendable = -1e9, .go_on = measured_once}).stopped) << "there is no second look";
}

TEST(Xray, SaysWhatItCanOfAModelThatIsNoNumberAnyMore) {
  Looked looked(test::small(ModelKind::lm, "pre-ln"));
  for_each_parameter(*looked.model, [](Parameter& p) {
    if (p.path == "layers.1.self.qkv.weight") p.value.value().values<float>()[3] = std::nanf("");
  });
  const XrayResult result = looked.xray();
  const StackXray& s = result.stacks.at(0);
  EXPECT_TRUE(std::isnan(result.loss));
  EXPECT_TRUE(std::isfinite(s.stream_rms[2]) && std::isnan(s.stream_rms[3])) << "the third unit gives the first NaN";
  EXPECT_TRUE(std::isfinite(s.lens[2]) && std::isnan(s.lens[3]));
  EXPECT_TRUE(std::isnan(s.bypass_change[2])) << "what is left without it is fine, but less a loss that is no number";
  EXPECT_TRUE(s.expendable.units.empty());
  const Json json = parsed(to_json(result), "the x-ray");
  EXPECT_TRUE(json["loss"].is_null());
  EXPECT_EQ(json["findings"].array_items().front(),
            Json("the stream is not finite, or 0, somewhere: nothing can be said of its size"));
}

TEST(Xray, RefusesToLookAtNothing) {
  const Looked looked(test::small(ModelKind::lm));
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { xray(*looked.model, {}); }, {"no batch"}));
  Batch unlabelled = looked.batch;
  std::ranges::fill(unlabelled.labels, kIgnoredLabel);
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { xray(*looked.model, {unlabelled}); }, {"no label", "3 sequences"}));
}

TEST(Magnitudes, HaveTheMedianToAHalfBin) {
  const std::vector<float> values = test::normal_values(1001, 3);
  Magnitudes all;
  for (const float v : values) all.add(v);
  const double exact = 1 / max_over_median(Tensor::of({1, 1001}, values), {}) *
                       static_cast<double>(std::abs(*std::ranges::max_element(values, {}, [](float v) { return std::abs(v); })));
  EXPECT_NEAR(all.median(), exact, exact / 256);
  EXPECT_TRUE(std::isnan(Magnitudes().median()));
  Magnitudes zeros;
  for (int i = 0; i < 3; ++i) zeros.add(-0.0f);
  EXPECT_EQ(zeros.median(), 0);
  Magnitudes endless;
  for (int i = 0; i < 3; ++i) endless.add(-std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(endless.median()));
}

TEST(Xray, IsOneLineOfJsonWithItsFindings) {
  const Looked looked(test::small(ModelKind::lm, "post-ln"));
  XrayResult result = looked.xray();
  result.model = "m";
  result.notes = {"config says post-ln and weights agree"};
  const std::string line = to_json(result);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Json json = parsed(line, "the x-ray");
  EXPECT_EQ(json["xray"], Json(1));
  EXPECT_EQ(json["model"]["arrangement"], Json("post-ln"));
  EXPECT_EQ(json["measure"], Json("loss"));
  EXPECT_EQ(json["attribution"]["ln"], Json("frozen"));
  const Json& stack = json["stacks"][0];
  for (const char* name :
       {"units", "stream_rms", "peaks", "lens_loss", "bypass_change", "branch_rms", "update_ratio", "branch_share", "cosine",
        "block_influence", "attention_entropy", "max_logit", "attribution", "expendable"})
    EXPECT_TRUE(stack.contains(name)) << name;
  EXPECT_EQ(json["findings"].array_items().back(), Json("config says post-ln and weights agree"));
  EXPECT_EQ(json["norms"].size(), 4);
}

}  // namespace
}  // namespace addnorm
