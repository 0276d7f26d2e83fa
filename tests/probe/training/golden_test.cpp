// Probes against PyTorch: every number of a record, of two small language models (tools/make_probe_goldens.py).
#include <gtest/gtest.h>

#include <algorithm>

#include "addnorm/probe/probe.h"
#include "support/golden.h"
#include "support/test_names.h"

namespace addnorm {
namespace {

/// Float32 activations and gradients of a small model against float64, measured by norms, ratios and differences of losses of
/// size about 1: PyTorch's own float32 is as far away.
constexpr test::Tolerance probe_tolerance() { return {2e-6, 2e-5}; }
/// What one step of rate 0.05 changes, as a share of what it changes: the difference of two float32 results of size 1.
constexpr test::Tolerance change_tolerance() { return {2e-6, 1e-4}; }
/// ||G||^2 less the noise in it, over that noise: two small numbers of float32 gradients.
constexpr test::Tolerance noise_tolerance() { return {1e-4, 1e-4}; }

/// The same batch at every step.
class OneBatch : public Dataset {
 public:
  explicit OneBatch(const test::Golden& golden) {
    batch_.sequences = 4;
    for (const std::int64_t id : golden.integers("ids")) batch_.ids.push_back(static_cast<std::int32_t>(id));
    for (const std::int64_t label : golden.integers("labels")) batch_.labels.push_back(static_cast<std::int32_t>(label));
  }
  Batch batch(std::uint64_t, std::size_t) const override { return batch_; }
  std::uint64_t size() const override { return 4; }

 private:
  Batch batch_;
};

std::vector<ProbeRecord> records_of(const test::Golden& golden) {
  ModelConfig config{.vocab = 11, .layers = 2, .d_model = 12, .heads = 2, .d_ff = 20, .seq_len = 6};
  config.arrangement = golden.name();
  const auto model = make_model(config);
  for_each_parameter(*model, [&](Parameter& p) {
    const Tensor given = golden["param." + p.path];
    EXPECT_EQ(given.shape(), p.value.shape()) << p.path;
    std::ranges::copy(given.values<float>(), p.value.value().values<float>().begin());
  });
  const OneBatch data(golden);
  TrainerOptions options{.batch_size = 4, .clip_grad_norm = 0, .schedule = {.rate = golden.setting("rate"), .steps = 10}};
  options.schedule.kind = ScheduleKind::constant;
  options.optimizer = {.kind = OptimizerKind::sgd, .momentum = 0, .weight_decay = 0};
  Trainer trainer(*model, data, options);
  std::vector<ProbeRecord> records;
  Probe probe({.level = ProbeLevel::full, .every = 1}, [&](const ProbeRecord& record) { records.push_back(record); });
  trainer.observe(&probe);
  trainer.step();
  trainer.step();
  return records;
}

/// Values of attention units only: the others hold NaN.
std::vector<double> measured(const std::vector<double>& values) {
  std::vector<double> some;
  std::ranges::copy_if(values, std::back_inserter(some), [](double v) { return v == v; });
  return some;
}

class ProbeGolden : public testing::TestWithParam<std::string> {
 protected:
  ProbeGolden() : golden(*std::ranges::find(all, GetParam(), &test::Golden::name)), records(records_of(golden)) {}
  void expect(const std::string& name, const std::vector<double>& got, test::Tolerance tolerance = probe_tolerance()) const {
    const Tensor want = golden[name];
    ASSERT_EQ(got.size(), want.elements()) << name;
    EXPECT_NEAR_ALL(std::span<const double>(got), want.values<double>(), tolerance) << name;
  }
  std::vector<test::Golden> all = test::goldens("probes");
  test::Golden golden;
  std::vector<ProbeRecord> records;
};
INSTANTIATE_TEST_SUITE_P(Torch, ProbeGolden, testing::Values("post-ln", "pre-ln"), test::name_of_test);

TEST_P(ProbeGolden, HasTheStreamAndItsGradients) {
  const StackRecord& s = records.at(0).stacks.at(0);
  expect("loss", {records[0].loss});
  expect("stream_rms", s.stream_rms);
  expect("stream_mean", s.stream_mean);
  expect("spread", s.spread);
  expect("cosine", s.cosine);
  expect("branch_rms", s.branch_rms);
  expect("update_ratio", s.update_ratio);
  expect("gradient_norm", s.gradient_norm);
  expect("gradient_skip", s.gradient_skip);
  expect("gradient_branch", s.gradient_branch);
  expect("attention_entropy", measured(s.attention_entropy));
  expect("max_logit", measured(s.max_logit));
}

TEST_P(ProbeGolden, HasTheShapeOfTheStream) {
  const StackRecord& s = records.at(0).stacks.at(0);
  expect("max_over_median", s.max_over_median);
  expect("kurtosis", s.kurtosis);
  expect("token_similarity", s.token_similarity);
  expect("stable_rank", s.stable_rank);
  expect("effective_rank", s.effective_rank);
}

TEST_P(ProbeGolden, HasWhatUnitsAreWorth) {
  const StackRecord& s = records.at(0).stacks.at(0);
  expect("bypass_change", s.bypass_change);
  expect("lens_loss", s.lens_loss);
  expect("lens_kl", s.lens_kl);
  expect("skip_share", s.skip_share);
  expect("logit_attribution", s.logit_attribution);
  std::vector<double> shares;
  for (const auto& row : s.dependency) shares.insert(shares.end(), row.begin(), row.end());
  expect("dependency", shares);
  double gain = 1;
  const Tensor wanted = golden["skip_share"];
  for (const double share : wanted.values<double>()) gain *= share;
  EXPECT_NEAR(s.skip_gain.value(), gain, probe_tolerance().rtol * gain);
}

TEST_P(ProbeGolden, HasWhatAStepChanges) {
  expect("model_change", {records.at(0).model_change.value()}, change_tolerance());
  EXPECT_TRUE(records[0].stacks[0].drift_mean.empty());  // there is nothing before the first
  expect("drift_mean", records.at(1).stacks[0].drift_mean, change_tolerance());
  expect("drift_deviation", records[1].stacks[0].drift_deviation, change_tolerance());
}

TEST_P(ProbeGolden, HasGradientsByRole) {
  for (const std::string role : {"ffn_out", "token_embedding", "norm_gain", "bias"}) {
    const auto found = std::ranges::find(records.at(0).roles, role, &RoleRecord::role);
    ASSERT_NE(found, records[0].roles.end()) << role;
    expect("role." + role + ".gradient_norm", {found->gradient_norm});
    expect("role." + role + ".gradient_snr", {found->gradient_snr.value()}, noise_tolerance());
  }
}

}  // namespace
}  // namespace addnorm
