// What is learned and what is counted, on batches small enough to be worked out by hand.
#include "addnorm/train/objective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "support/models/training.h"
#include "support/near.h"
#include "support/streams/small_models.h"

namespace addnorm {
namespace {

/// One batch of everything, whatever is asked for.
struct GivenBatch final : Dataset {
  explicit GivenBatch(Batch given) : all(std::move(given)) {}
  Batch batch(std::uint64_t first, std::size_t count) const override {
    const std::size_t tokens = all.ids.size() / all.sequences;
    Batch part{.first = first, .sequences = count};
    for (std::size_t i = 0; i < count * tokens; ++i) {
      const std::size_t at = (static_cast<std::size_t>(first) * tokens + i) % all.ids.size();
      part.ids.push_back(all.ids[at]);
      part.labels.push_back(all.labels[at]);
    }
    return part;
  }
  std::uint64_t size() const override { return all.sequences; }
  Batch all;
};

ModelConfig with_head_bias() {
  ModelConfig config = test::tiny_config();
  config.tied = false;
  config.head_bias = true;
  return config;
}

/// softmax of a row, in double.
std::vector<double> probabilities(const float* row, std::size_t classes) {
  std::vector<double> p(row, row + classes);
  const double most = *std::ranges::max_element(p);
  double sum = 0;
  for (double& x : p) sum += x = std::exp(x - most);
  for (double& x : p) x /= sum;
  return p;
}

// With q = (1 - e) onehot(label) + e / V: loss = -mean_t sum_v q_tv ln p_tv, and the gradient of the head's bias, which is added
// to every row of logits, is mean_t (p_tv - q_tv). Labels that are ignored count in neither.
TEST(Trainer, SmoothsLabelsAsTheFormulaSaysInLossAndGradient) {
  constexpr double kSmoothing = 0.3;
  const ModelConfig config = with_head_bias();
  const std::size_t classes = config.vocab;
  Batch batch{.sequences = 4, .ids = test::ids(48, classes, 3), .labels = test::ids(48, classes, 4)};
  for (const std::size_t i : {0u, 7u, 8u, 40u}) batch.labels[i] = kIgnoredLabel;
  const auto model = make_model(config);
  for_each_parameter(*model, [](Parameter& p) {
    if (p.path == "head.bias")
      for (std::size_t v = 0; v < p.value.value().elements(); ++v)
        p.value.value().values<float>()[v] = 0.1f * static_cast<float>(v % 7);
  });

  const Tensor logits = batch_logits(*model, batch, {.train = true}).value();
  double loss = 0;
  std::vector<double> gradient(classes);
  const auto counted = static_cast<double>(batch.counted());
  for (std::size_t t = 0; t < batch.labels.size(); ++t) {
    if (batch.labels[t] == kIgnoredLabel) continue;
    const std::vector<double> p = probabilities(logits.data<float>() + t * classes, classes);
    for (std::size_t v = 0; v < classes; ++v) {
      const bool label = static_cast<std::int32_t>(v) == batch.labels[t];
      const double q = (label ? 1 - kSmoothing : 0) + kSmoothing / static_cast<double>(classes);
      loss -= q * std::log(p[v]) / counted;
      gradient[v] += (p[v] - q) / counted;
    }
  }

  for (const std::size_t parts : {1u, 2u}) {  // an update in parts is the same update
    const GivenBatch data(batch);
    TrainerOptions options = test::tiny_options();
    options.batch_size = 4 / parts;
    options.accumulate = parts;
    options.label_smoothing = kSmoothing;
    options.schedule = {.kind = ScheduleKind::constant, .rate = 0, .steps = 10};  // the model stays as it is
    Trainer trainer(*model, data, options);
    std::vector<float> got;
    test::GradientMeddler watcher([&](std::int64_t, Model& m) {
      for_each_parameter(m, [&](Parameter& p) {
        if (p.path == "head.bias") got.assign(p.value.grad().values<float>().begin(), p.value.grad().values<float>().end());
      });
    });
    trainer.observe(&watcher);
    EXPECT_NEAR(trainer.step().loss, loss, test::gradient_tolerance().rtol * loss) << parts;
    EXPECT_NEAR_ALL(got, gradient, test::gradient_tolerance());
  }
}

// Labels made from the model's own guesses: which of them are right is known beforehand.
TEST(Evaluate, CountsRightLabelsAndWhollyRightSamples) {
  const ModelConfig config = with_head_bias();
  const std::size_t classes = config.vocab, tokens = 6;
  const auto model = make_model(config);
  Batch batch{.sequences = 5, .ids = test::ids(5 * tokens, classes, 8), .labels = std::vector<std::int32_t>(5 * tokens)};
  const Tensor logits = batch_logits(*model, batch, {}).value();
  const auto row = [&](std::size_t t) { return logits.data<float>() + t * classes; };
  for (std::size_t t = 0; t < batch.labels.size(); ++t)
    batch.labels[t] = static_cast<std::int32_t>(std::max_element(row(t), row(t) + classes) - row(t));
  const auto wrong = [&](std::size_t sample, std::size_t at) {
    std::int32_t& label = batch.labels[sample * tokens + at];
    label = (label + 1) % static_cast<std::int32_t>(classes);
  };
  const auto ignored = [&](std::size_t sample, std::size_t at) { batch.labels[sample * tokens + at] = kIgnoredLabel; };
  // Sample 0: all right. 1: the last one wrong. 2: what counts is right. 3: nothing counts. 4: two wrong, one ignored.
  wrong(1, 5);
  ignored(2, 0), ignored(2, 5);
  for (std::size_t at = 0; at < tokens; ++at) ignored(3, at);
  wrong(4, 0), wrong(4, 3), ignored(4, 1);
  double loss = 0;
  for (std::size_t t = 0; t < batch.labels.size(); ++t)
    if (batch.labels[t] != kIgnoredLabel)
      loss -= std::log(probabilities(row(t), classes)[static_cast<std::size_t>(batch.labels[t])]) / 21;

  const GivenBatch data(batch);
  for (const std::size_t batch_size : {1u, 2u, 5u}) {
    const Evaluation found = evaluate(*model, data, 0, batch_size);
    EXPECT_EQ(found.labels, 21u);
    EXPECT_EQ(found.right, 18u);
    EXPECT_EQ(found.sequences, 4u);
    EXPECT_EQ(found.exact, 2u);
    EXPECT_EQ(found.accuracy(), 18.0 / 21);
    EXPECT_EQ(found.exact_match(), 0.5);
    EXPECT_NEAR(found.loss, loss, test::gradient_tolerance().rtol * loss);
    EXPECT_EQ(found.perplexity(), std::exp(found.loss));
  }
}

TEST(Evaluate, OfEqualLogitsTakesTheLowestClass) {
  const auto model = make_model(with_head_bias());
  for_each_parameter(*model, [](Parameter& p) { std::ranges::fill(p.value.value().values<float>(), 0.0f); });
  const GivenBatch data({.sequences = 1, .ids = {1, 2, 3, 4}, .labels = {0, 0, 1, 0}});
  const Evaluation found = evaluate(*model, data, 0, 1);
  EXPECT_EQ(found.right, 3u);
  EXPECT_EQ(found.exact, 0u);
  EXPECT_NEAR(found.loss, std::log(static_cast<double>(test::tiny_config().vocab)), test::gradient_tolerance().rtol * 4);
}

}  // namespace
}  // namespace addnorm
