// T-04, T-05, T-06: a step that cannot be used, and the guard that sees it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "addnorm/train/trainer.h"
#include "core/json/json.h"
#include "support/models/training.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::bits_of;
using test::copy_of;
using test::kNaN;
using test::SmallRun;
using test::tiny_config;
using test::tiny_options;

ModelConfig smallest() {
  ModelConfig config = tiny_config();
  config.d_model = 4;
  config.seq_len = 4;
  return config;
}

testing::AssertionResult same_tensors(const Snapshot& a, const Snapshot& b) {
  for (std::size_t i = 0; i < b.tensors.size(); ++i)
    if (const auto same = test::same_bits(a.tensors[i].second.values<float>(), b.tensors[i].second.values<float>()); !same)
      return testing::AssertionFailure() << b.tensors[i].first << ": " << same.message();
  return testing::AssertionSuccess();
}

/// Something bad that happens in one step, and what the message must say of it.
struct Injury {
  std::string name, message;
  std::function<void(Model&, float bad)> to_weights{};    ///< before the step
  std::function<void(Model&, float bad)> to_gradients{};  ///< within it
  std::function<void(const Unit*, const Var&, float bad)> to_stream{};
  bool to_loss = false;
};

constexpr std::int64_t kBadStep = 3;

/// Injures step 3, the first time only: what comes after a rollback is another step 3.
struct Injurer final : TrainObserver, StreamObserver {
  Injurer(const Injury& all, float value) : injury(all), bad(value) {}
  bool now(std::int64_t step) const { return step == kBadStep && !over; }
  StreamObservers streams(std::int64_t step) override {
    return now(step) && injury.to_stream ? StreamObservers{.stream = this} : StreamObservers{};
  }
  void on_branch(const Unit&, const Var&) override {}
  void on_stream(const Unit* unit, const Var& x) override { injury.to_stream(unit, x, bad); }
  void on_loss(std::int64_t step, const Var& loss) override {
    if (now(step) && injury.to_loss) Var(loss).value().values<float>()[0] = bad;
  }
  void on_gradients(std::int64_t step, Model& model) override {
    if (now(step) && injury.to_gradients) injury.to_gradients(model, bad);
  }
  void on_step(const StepRecord& record) override { over |= record.outcome != StepOutcome::updated; }
  const Injury& injury;
  float bad;
  bool over = false;
};

/// Every parameter, the gradient of every parameter, the stream after every unit and before the first, the loss.
std::vector<Injury> injuries(const ModelConfig& config) {
  std::vector<Injury> all{{.name = "the loss", .message = "the loss is", .to_loss = true}};
  const auto model = make_model(config);
  for_each_parameter(*model, [&](Parameter& parameter) {
    const std::string path = parameter.path;
    const auto last_of = [path](Model& m, float bad, bool gradient) {
      for_each_parameter(m, [&](Parameter& p) {
        if (p.path == path) (gradient ? p.value.grad() : p.value.value()).values<float>().back() = bad;
      });
    };
    all.push_back({.name = path, .message = "parameter " + path + ": ", .to_weights = [last_of](Model& m, float bad) {
                     last_of(m, bad, false);
                   }});
    all.push_back({.name = "the gradient of " + path,
                   .message = "the gradient of " + path + ": ",
                   .to_gradients = [last_of](Model& m, float bad) { last_of(m, bad, true); }});
  });
  for (std::size_t layer = 0; layer < config.layers; ++layer)
    for (const SubLayer sub_layer : {SubLayer::self, SubLayer::ffn})
      all.push_back({.name = concat("the stream after unit ", layer, name_of(sub_layer)),
                     .message = concat("the stream after layers.", layer, "/", name_of(sub_layer), ": "),
                     .to_stream = [layer, sub_layer](const Unit* unit, const Var& x, float bad) {
                       if (unit && unit->layer == layer && unit->sub_layer == sub_layer) Var(x).value().values<float>()[3] = bad;
                     }});
  all.push_back({.name = "the input",
                 .message = "the stream after the embedding: ",
                 .to_stream = [](const Unit* unit, const Var& x, float bad) {
                   if (!unit) Var(x).value().values<float>()[3] = bad;
                 }});
  return all;
}

/// Step 3 injured: what becomes of it, and of every bit.
void expect_treated(const Injury& injury, float bad, OnNan policy) {
  SCOPED_TRACE(concat(injury.name, " becomes ", bad, ", policy ", static_cast<int>(policy)));
  TrainerOptions options = tiny_options();
  options.on_nan = policy;
  SmallRun run(options, smallest());
  std::optional<Snapshot> kept;
  run.trainer.rollback_to([&] { return kept; });
  Injurer injurer(injury, bad);
  run.trainer.observe(&injurer);
  run.steps(1);
  kept = copy_of(run.trainer.snapshot());
  run.steps(1);
  if (injury.to_weights) injury.to_weights(*run.model, bad);
  const Snapshot before = copy_of(run.trainer.snapshot());
  std::string message;
  StepOutcome outcome = StepOutcome::updated;
  try {
    const StepRecord record = run.trainer.step();
    message = record.problem;
    outcome = record.outcome;
  } catch (const NumericsError& error) {
    message = error.what();
    EXPECT_EQ(policy, OnNan::stop);
  }
  EXPECT_TRUE(message.starts_with(concat("step ", kBadStep, ": "))) << message;
  EXPECT_NE(message.find(injury.message), std::string::npos) << message;
  const StepOutcome wanted[] = {StepOutcome::updated, StepOutcome::skipped, StepOutcome::rolled_back};  // none where it stops
  EXPECT_EQ(outcome, wanted[static_cast<std::size_t>(policy)]);
  const Snapshot after = run.trainer.snapshot();
  EXPECT_TRUE(same_tensors(after, policy == OnNan::rollback ? *kept : before));
  EXPECT_TRUE(policy != OnNan::stop || bits_of(after) == bits_of(before));
  const bool healed = policy == OnNan::rollback || (policy == OnNan::skip && !injury.to_weights);
  EXPECT_TRUE(!healed || run.trainer.step().outcome == StepOutcome::updated);
}

TEST(TrainerNan, T04WhateverBecomesBadIsSeenInItsStepNamedAndReachesNothing) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Injury& injury : injuries(smallest()))
    for (const float bad : {kNaN, kInfinity, -kInfinity})
      for (const OnNan policy : {OnNan::stop, OnNan::skip, OnNan::rollback}) expect_treated(injury, bad, policy);
}

std::string stopped(SmallRun& run) {
  const std::string before = bits_of(run.trainer.snapshot());
  std::string message;
  try {
    run.trainer.step();
  } catch (const NumericsError& error) {
    message = error.what();
  }
  EXPECT_TRUE(bits_of(run.trainer.snapshot()) == before);
  return message;
}

TEST(TrainerNan, T04AnOverflowIsTracedToItsLayer) {
  SmallRun run;
  run.steps(2);
  for_each_parameter(*run.model, [&](Parameter& p) {
    if (p.path == "layers.1.ffn.out.weight")
      for (float& w : p.value.value().values<float>()) w = 3e38f;
  });
  const std::string message = stopped(run);
  EXPECT_NE(message.find("step 3"), std::string::npos) << message;
  EXPECT_NE(message.find("layers.1/ffn"), std::string::npos) << message;
}

TEST(TrainerNan, T04RunningStatisticsAreAsTheyWereToo) {
  for (const OnNan policy : {OnNan::stop, OnNan::skip}) {
    TrainerOptions options = tiny_options();
    options.on_nan = policy;
    ModelConfig config = tiny_config();
    config.norm = "batchnorm";
    SmallRun run(options, config);
    run.steps(2);
    const Snapshot before = copy_of(run.trainer.snapshot());
    test::GradientMeddler meddler([](std::int64_t, Model& model) {
      for_each_parameter(model, [](Parameter& p) { p.value.grad().values<float>()[0] = kNaN; });
    });
    run.trainer.observe(&meddler);
    try {
      run.trainer.step();
    } catch (const NumericsError&) {
    }
    const Snapshot after = run.trainer.snapshot();
    for (std::size_t i = 0; i < before.tensors.size(); ++i)
      EXPECT_TRUE(std::ranges::equal(before.tensors[i].second.values<float>(), after.tensors[i].second.values<float>()))
          << before.tensors[i].first;
  }
}

/// Makes every gradient of the named steps useless or huge.
test::GradientMeddler spoiler(std::vector<std::int64_t> steps, float factor) {
  return test::GradientMeddler([steps, factor](std::int64_t step, Model& model) {
    if (std::ranges::find(steps, step) == steps.end()) return;
    for_each_parameter(model, [&](Parameter& p) {
      for (float& g : p.value.grad().values<float>()) g *= factor;
    });
  });
}

TEST(TrainerNan, OfTheFirstStepsIsAnsweredWithTheStart) {
  const auto message_of = [](const InitOptions& init, std::vector<std::int64_t> bad, int steps) -> std::string {
    ModelConfig config = tiny_config();
    config.init = init;
    SmallRun run(tiny_options(), config);
    auto meddler = spoiler(std::move(bad), kNaN);
    run.trainer.observe(&meddler);
    try {
      run.steps(steps);
    } catch (const NumericsError& error) {
      return error.what();
    }
    return "";
  };
  const std::string rate = "; nothing was updated. A smaller learning rate, a longer warm-up, ";
  EXPECT_TRUE(message_of({.deviation = 1e30}, {}, 1)
                  .ends_with("; nothing was updated yet, so it comes from how the weights start (init_std 1e+30), or from the "
                             "data. Smaller weights (init_std, embedding_std, branch_scale) or another init may help"))
      << message_of({.deviation = 1e30}, {}, 1);
  EXPECT_NE(message_of({}, {1}, 1).find("it comes from how the weights start, or from the data"), std::string::npos);
  EXPECT_TRUE(
      message_of({.branch_scale = 2}, {10}, 10).ends_with(rate + "a weaker start (branch_scale 2), or on_nan skip may help"));
  EXPECT_TRUE(message_of({}, {11}, 11).ends_with(rate + "or on_nan skip may help"));
}

TEST(TrainerNan, T04SkippingLeavesWeightsAndOptimizerAsTheyWere) {
  TrainerOptions options = tiny_options();
  options.on_nan = OnNan::skip;
  options.spike_threshold = 1e6;  // the guard is on, and its window has what was good
  SmallRun run(options);
  auto meddler = spoiler({3}, kNaN);
  run.trainer.observe(&meddler);
  run.steps(2);
  const Snapshot before = copy_of(run.trainer.snapshot());
  const StepRecord skipped = run.trainer.step();
  EXPECT_EQ(skipped.outcome, StepOutcome::skipped);
  EXPECT_FALSE(skipped.problem.empty());
  const Snapshot after = run.trainer.snapshot();
  for (std::size_t i = 0; i < before.tensors.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(before.tensors[i].second.values<float>(), after.tensors[i].second.values<float>()))
        << before.tensors[i].first;
  const StepRecord next = run.trainer.step();
  EXPECT_EQ(next.outcome, StepOutcome::updated);
  EXPECT_EQ(next.step, 4);
  const Json guard = parsed(run.trainer.snapshot().record, "the record").at("guard");
  for (const char* window : {"losses", "norms"}) {
    EXPECT_EQ(guard.at(window).size(), 3u);  // of steps 1, 2 and 4; a NaN would be null
    for (const Json& value : guard.at(window).array_items()) EXPECT_TRUE(value.is_number() && std::isfinite(value.number()));
  }
}

TEST(TrainerNan, T04ThreeInARowStop) {
  TrainerOptions options = tiny_options();
  options.on_nan = OnNan::skip;
  SmallRun run(options);
  auto meddler = spoiler({2, 3, 5, 6, 7}, kNaN);
  run.trainer.observe(&meddler);
  run.steps(6);  // two in a row and two in a row are borne
  EXPECT_THROW(run.trainer.step(), NumericsError);
}

TEST(TrainerNan, T04RollbackGoesToTheLastSnapshotAndOnAfterTheBadBatch) {
  TrainerOptions options = tiny_options();
  options.on_nan = OnNan::rollback;
  SmallRun run(options), straight(options);
  std::optional<Snapshot> kept;
  run.trainer.rollback_to([&] { return kept; });
  run.steps(2);
  straight.steps(2);
  kept = copy_of(run.trainer.snapshot());
  run.steps(2);
  auto meddler = spoiler({5}, kNaN);
  run.trainer.observe(&meddler);
  EXPECT_EQ(run.trainer.step().outcome, StepOutcome::rolled_back);
  EXPECT_EQ(run.trainer.steps(), 2);
  // The next batch is that of step 6, on the weights after step 2.
  const Var loss = batch_loss(*straight.model, straight.data->batch(5 * options.batch_size, options.batch_size),
                              {.train = true, .seed = 1, .step = 3});
  const StepRecord again = run.trainer.step();
  EXPECT_EQ(again.step, 3);
  EXPECT_EQ(again.loss, loss.value().item());
}

TEST(TrainerNan, RollbackWithoutASnapshotStops) {
  TrainerOptions options = tiny_options();
  options.on_nan = OnNan::rollback;
  SmallRun run(options);
  auto meddler = spoiler({1}, kNaN);
  run.trainer.observe(&meddler);
  EXPECT_THROW(run.trainer.step(), NumericsError);
}

TEST(TrainerGuard, T05OneSpikeIsSkippedALastingOneRollsBackAndThenStops) {
  TrainerOptions options = tiny_options();
  options.spike_threshold = 8;
  options.schedule.steps = 200;
  SmallRun run(options);
  std::optional<Snapshot> kept;
  run.trainer.rollback_to([&] { return kept; });
  run.steps(70);
  kept = copy_of(run.trainer.snapshot());
  auto once = spoiler({71}, 100);
  run.trainer.observe(&once);
  EXPECT_EQ(run.trainer.step().outcome, StepOutcome::skipped);
  EXPECT_EQ(run.trainer.step().outcome, StepOutcome::updated);

  std::vector<std::int64_t> all;
  for (std::int64_t step = 71; step < 100; ++step) all.push_back(step);
  auto lasting = spoiler(all, 100);
  run.trainer.observe(&lasting);
  int rollbacks = 0;
  EXPECT_THROW(for (int i = 0; i < 40; ++i) rollbacks += run.trainer.step().outcome == StepOutcome::rolled_back, NumericsError);
  EXPECT_EQ(rollbacks, 3);
}

TEST(TrainerGuard, T06AGuardThatSeesNothingChangesNoBit) {
  TrainerOptions with = tiny_options(), without = tiny_options();
  with.spike_threshold = 1e6;
  SmallRun guarded(with), plain(without);
  const auto a = guarded.steps(70), b = plain.steps(70);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].loss, b[i].loss);
  const Snapshot x = guarded.trainer.snapshot(), y = plain.trainer.snapshot();
  for (std::size_t i = 0; i < x.tensors.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(x.tensors[i].second.values<float>(), y.tensors[i].second.values<float>()));
}

}  // namespace
}  // namespace addnorm
