// Training steps: exact, repeatable, and never led astray by a NaN.
#include "addnorm/train/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "addnorm/core/parallel.h"
#include "support/models/training.h"
#include "support/near.h"
#include "support/streams/small_models.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::bits_of;
using test::copy_of;
using test::kNaN;
using test::SmallRun;
using test::tiny_config;
using test::tiny_options;

TEST(Trainer, LowersTheLossTowardsTheFloor) {
  TrainerOptions options = tiny_options();
  options.schedule = {.kind = ScheduleKind::constant, .rate = 1e-2, .warmup = 10, .steps = 150};
  options.batch_size = 16;
  SmallRun run(options);
  const auto records = run.steps(150);
  const Baselines known = Language().baselines(tiny_config().seq_len);
  EXPECT_LT(records.back().loss, known.bigram + 0.3);
  EXPECT_GT(records.back().loss, known.floor - 0.3);
}

TEST(Trainer, T12BeginsAtTheLossOfAGuess) {
  SmallRun run;
  const double uniform = std::log(static_cast<double>(tiny_config().vocab));
  EXPECT_NEAR(run.trainer.step().loss, uniform, 0.02 * uniform);
}

TEST(Trainer, T12OverfitsOneBatch) {
  struct OneBatch final : Dataset {  // sequences that differ from their first token on: all that follows can be known
    Batch batch(std::uint64_t, std::size_t count) const override {
      Batch all{.sequences = count, .ids = test::ids(12 * count, 43, 3), .labels = test::ids(12 * count, 43, 4)};
      for (std::size_t i = 0; i < count; ++i) all.ids[12 * i] = static_cast<std::int32_t>(i);
      return all;
    }
    std::uint64_t size() const override { return 4; }
  } data;
  ModelConfig config = tiny_config();
  config.d_model = 32;
  const auto model = make_model(config);
  TrainerOptions options{.batch_size = 4};
  options.optimizer.weight_decay = 0;
  options.schedule = {.kind = ScheduleKind::constant, .rate = 1e-2, .warmup = 5, .steps = 400};
  Trainer trainer(*model, data, options);
  double loss = 9;
  for (int i = 0; i < 400 && loss >= 0.01; ++i) loss = trainer.step().loss;
  EXPECT_LT(loss, 0.01);
}

TEST(Trainer, T12ARateOfZeroLeavesWeightsAsTheyAre) {
  TrainerOptions options = tiny_options();
  options.schedule = {.kind = ScheduleKind::constant, .rate = 0, .steps = 5};
  SmallRun run(options), fresh(options);
  run.steps(5);
  for_each_parameter(*run.model, [&](Parameter& p) {
    for_each_parameter(*fresh.model, [&](Parameter& q) {
      const bool same = std::ranges::equal(p.value.value().values<float>(), q.value.value().values<float>());
      EXPECT_TRUE(p.path != q.path || same) << p.path;
    });
  });
}

TEST(Trainer, T02SameSeedSameBitsForAnyNumberOfThreads) {
  TrainerOptions options = tiny_options();
  ModelConfig config = tiny_config();
  config.dropout = 0.1;
  const int before = threads();
  std::string first;
  for (const int count : {1, 1, 2, 3, 4, 7, 8}) {
    set_threads(count);
    SmallRun run(options, config);
    run.steps(12);
    const std::string bits = bits_of(run.trainer.snapshot());
    if (first.empty()) first = bits;
    EXPECT_TRUE(bits == first) << count << " threads";
  }
  set_threads(before);
}

// Five interruptions: in the warm-up, at its end, later, and right after one another.
TEST(Trainer, T01StopsAndGoesOnExactlyWhereverItWas) {
  for (const OptimizerKind kind :
       {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::radam, OptimizerKind::adafactor}) {
    SCOPED_TRACE(name_of(kind));
    TrainerOptions options = tiny_options();
    options.optimizer = usual_options(kind);
    options.accumulate = 2;
    options.spike_threshold = 4;
    ModelConfig config = tiny_config();
    config.dropout = 0.2;
    SmallRun whole(options, config);
    const auto want = whole.steps(24);
    std::vector<StepRecord> got;
    Snapshot kept;
    for (const int length : {2, 3, 9, 1, 9}) {
      SmallRun part(options, config);
      if (!got.empty()) part.trainer.restore(kept);
      for (const StepRecord& record : part.steps(length)) got.push_back(record);
      kept = copy_of(part.trainer.snapshot());
    }
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(got[i].step, want[i].step);
      EXPECT_EQ(got[i].loss, want[i].loss) << "step " << want[i].step;
      EXPECT_EQ(got[i].gradient_norm, want[i].gradient_norm);
    }
    EXPECT_TRUE(bits_of(kept) == bits_of(whole.trainer.snapshot()));
  }
}

TEST(Trainer, RestoresOnlyWhatIsOfThisModelAndThenEverythingOrNothing) {
  SmallRun run;
  run.steps(3);
  const std::string before = bits_of(run.trainer.snapshot());
  ModelConfig wider = tiny_config();
  wider.d_model = 24;
  SmallRun other(tiny_options(), wider);
  EXPECT_THROW(run.trainer.restore(other.trainer.snapshot()), DataError);
  Snapshot lacking = copy_of(run.trainer.snapshot());
  lacking.tensors.pop_back();
  EXPECT_THROW(run.trainer.restore(lacking), DataError);
  Snapshot torn = copy_of(run.trainer.snapshot());
  torn.record = "{\"next_sample\": 4}";
  EXPECT_THROW(run.trainer.restore(torn), DataError);
  EXPECT_TRUE(bits_of(run.trainer.snapshot()) == before);
}

/// Sequences of different lengths, so that parts have different numbers of labels.
struct Ragged final : Dataset {
  Batch batch(std::uint64_t first, std::size_t count) const override {
    Batch all{.first = first, .sequences = count};
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t length = 2 + (first + i) * 3 % 9;
      all.lengths.push_back(length);
      const auto ids = test::ids(12, 11, first + i);
      all.ids.insert(all.ids.end(), ids.begin(), ids.end());
      for (std::size_t t = 0; t < 12; ++t) all.labels.push_back(t < length ? ids[(t + 1) % 12] : kIgnoredLabel);
    }
    return all;
  }
  std::uint64_t size() const override { return 0; }
};

TEST(Trainer, AnUpdateInPartsIsTheMeanOverAllLabelsNotTheMeanOfMeans) {
  ModelConfig config = tiny_config();
  config.vocab = 11;
  const Ragged data;
  std::vector<double> losses, norms;
  for (const std::size_t parts : {1u, 2u, 4u}) {
    const auto model = make_model(config);
    TrainerOptions options = tiny_options();
    options.batch_size = 8 / parts;
    options.accumulate = parts;
    Trainer trainer(*model, data, options);
    const StepRecord record = trainer.step();
    losses.push_back(record.loss);
    norms.push_back(record.gradient_norm);
  }
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_NEAR(losses[i], losses[0], 1e-6 * losses[0]);
    EXPECT_NEAR(norms[i], norms[0], 1e-5 * norms[0]);
  }
}

TEST(Trainer, MeasuresAdminOnceBeforeTheFirstStep) {
  ModelConfig config = tiny_config();
  config.arrangement = "admin";
  config.layers = 4;
  SmallRun run(tiny_options(), config);
  std::vector<float> omegas;
  for_each_parameter(*run.model, [&](Parameter& p) {
    if (p.path.find("residual.") == 0 && p.role == Role::coefficient) omegas.push_back(p.value.value().values<float>()[0]);
  });
  ASSERT_GE(omegas.size(), 8u);
  EXPECT_NE(omegas.back(), omegas.front());
}

TEST(Trainer, RefusesOptionsThatCannotBe) {
  const auto refused = [](auto change, const char* name) {
    TrainerOptions options = tiny_options();
    change(options);
    try {
      check(options);
      ADD_FAILURE() << name;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  };
  refused([](TrainerOptions& o) { o.batch_size = 0; }, "batch_size");
  refused([](TrainerOptions& o) { o.accumulate = 0; }, "accumulate");
  refused([](TrainerOptions& o) { o.clip_grad_norm = -1; }, "clip_grad_norm");
  refused([](TrainerOptions& o) { o.label_smoothing = 1; }, "label_smoothing");
  refused([](TrainerOptions& o) { o.schedule.rate = kNaN; }, "rate");
  refused([](TrainerOptions& o) { o.spike_threshold = -1; }, "spike_threshold");
}

TEST(Evaluate, CountsTheSameHoweverSamplesAreBatched) {
  SmallRun run;
  run.steps(5);
  const Evaluation one = evaluate(*run.model, *run.data, 9, 9), three = evaluate(*run.model, *run.data, 9, 2);
  EXPECT_EQ(one.labels, 9 * 12u);
  EXPECT_EQ(three.labels, one.labels);
  EXPECT_EQ(three.right, one.right);
  EXPECT_NEAR(three.loss, one.loss, 1e-6);
  EXPECT_THROW(evaluate(*run.model, *run.data, 0, 4), UsageError);  // endless
  EXPECT_THROW(evaluate(*run.model, *run.data, 4, 0), UsageError);
}

TEST(Evaluate, StopsWhenAsked) {
  SmallRun run;
  int asked = 0;
  const Evaluation part = evaluate(*run.model, *run.data, 100, 2, [&] { return ++asked <= 3; });
  EXPECT_TRUE(part.stopped);
  EXPECT_EQ(part.sequences, 6u);
}

}  // namespace
}  // namespace addnorm
