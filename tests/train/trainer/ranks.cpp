// Trainers that share their batches: two of them in threads of one process, against one with everything.
#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "addnorm/train/communicator.h"
#include "support/models/training.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::throws_saying;
using test::tiny_config;
using test::tiny_options;

/// Where ranks put what they have, and see what the others have.
class Meeting {
 public:
  explicit Meeting(std::size_t ranks)
      : floats_(ranks), doubles_(ranks), flags_(ranks), barrier_(static_cast<std::ptrdiff_t>(ranks)) {}
  std::size_t size() const { return floats_.size(); }

  template <class T>
  std::vector<std::vector<T>> exchanged(std::size_t rank, std::vector<T> own) {
    auto& all = lists<T>();
    all[rank] = std::move(own);
    barrier_.arrive_and_wait();
    std::vector<std::vector<T>> seen = all;
    barrier_.arrive_and_wait();
    return seen;
  }

 private:
  template <class T>
  auto& lists() {
    if constexpr (std::is_same_v<T, float>)
      return floats_;
    else if constexpr (std::is_same_v<T, double>)
      return doubles_;
    else
      return flags_;
  }
  std::vector<std::vector<float>> floats_;
  std::vector<std::vector<double>> doubles_;
  std::vector<std::vector<std::int32_t>> flags_;
  std::barrier<> barrier_;
};

/// By twos, then these by twos.
template <class T>
std::vector<T> tree_sum(std::vector<std::vector<T>> lists) {
  while (lists.size() > 1) {
    std::vector<std::vector<T>> sums;
    for (std::size_t i = 0; i < lists.size(); i += 2) {
      sums.push_back(lists[i]);
      for (std::size_t k = 0; i + 1 < lists.size() && k < lists[i].size(); ++k) sums.back()[k] += lists[i + 1][k];
    }
    lists = std::move(sums);
  }
  return lists.front();
}

class ThreadRank final : public Communicator {
 public:
  ThreadRank(Meeting& meeting, std::size_t rank) : meeting_(meeting), rank_(rank) {}
  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return meeting_.size(); }
  void sum(std::span<const std::span<float>> lists) override {
    std::vector<float> flat;
    for (const std::span<float> list : lists) flat.insert(flat.end(), list.begin(), list.end());
    const std::vector<float> all = tree_sum(meeting_.exchanged(rank_, flat));
    std::size_t at = 0;
    for (const std::span<float> list : lists)
      for (float& value : list) value = all.at(at++);
  }
  void sum(std::span<double> values) override {
    std::ranges::copy(tree_sum(meeting_.exchanged(rank_, std::vector<double>(values.begin(), values.end()))), values.begin());
  }
  void largest(std::span<std::int32_t> values) override {
    for (const auto& list : meeting_.exchanged(rank_, std::vector<std::int32_t>(values.begin(), values.end())))
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::max(values[i], list.at(i));
  }

 private:
  Meeting& meeting_;
  std::size_t rank_;
};

void on_two_ranks(const std::function<void(Communicator&)>& body) {
  Meeting meeting(2);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      ThreadRank own(meeting, rank);
      body(own);
    });
  for (std::thread& thread : threads) thread.join();
}

/// Sentences of which some have fewer labels than others, so that halves of a batch do not weigh the same. From sample `broken`
/// on there is nothing to be read.
struct UnevenData final : Dataset {
  Batch batch(std::uint64_t first, std::size_t count) const override {
    if (first >= broken) throw DataError("uneven data: sample is gone");
    Batch all = data->batch(first, count);
    const std::size_t tokens = all.labels.size() / count;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t t = 0; t < (first + i) % 4 * 2; ++t) all.labels[i * tokens + t] = kIgnoredLabel;
    return all;
  }
  std::uint64_t size() const override { return 0; }
  std::unique_ptr<Dataset> data = Language().dataset(tiny_config().seq_len, 5);
  std::uint64_t broken = std::numeric_limits<std::uint64_t>::max();
};

ModelConfig with_dropout() {
  ModelConfig config = tiny_config();
  config.dropout = 0.1;
  return config;
}

TrainerOptions plain_options() {
  TrainerOptions options = tiny_options();
  options.accumulate = 2;
  options.label_smoothing = 0.1;
  options.clip_grad_norm = 0.5;
  options.optimizer.kind = OptimizerKind::sgd;
  options.schedule = {.kind = ScheduleKind::constant, .rate = 0.1, .steps = 20};
  return options;
}

/// What a trainer did in some steps.
struct Course {
  std::vector<StepRecord> records;
  std::string bits;
  std::vector<float> weights;
};
Course course_of(const Dataset& data, const TrainerOptions& options, Communicator& ranks, int steps) {
  const auto model = make_model(with_dropout());
  Trainer trainer(*model, data, options, ranks);
  Course course;
  for (int step = 0; step < steps; ++step) course.records.push_back(trainer.step());
  course.bits = test::bits_of(trainer.snapshot());
  for_each_parameter(*model, [&](Parameter& p) {
    const auto own = p.value.value().values<float>();
    course.weights.insert(course.weights.end(), own.begin(), own.end());
  });
  return course;
}

TEST(Ranks, TwoWithHalfTheBatchEachLearnWhatOneLearnsWithAllOfIt) {
  const UnevenData data;
  const Course whole = course_of(data, plain_options(), alone(), 6);
  std::vector<Course> halves(2);
  on_two_ranks([&](Communicator& ranks) { halves[ranks.rank()] = course_of(data, plain_options(), ranks, 6); });
  EXPECT_EQ(halves[0].bits, halves[1].bits);
  for (std::size_t step = 0; step < 6; ++step) {
    const StepRecord &one = whole.records[step], &two = halves[0].records[step];
    EXPECT_NEAR(two.loss, one.loss, test::training_tolerance().atol) << step;
    EXPECT_NEAR(two.gradient_norm, one.gradient_norm, test::training_tolerance().atol) << step;
    EXPECT_EQ(two.labels, one.labels);
    EXPECT_EQ(two.tokens, one.tokens);
    EXPECT_EQ(two.flops, one.flops);
    EXPECT_EQ(halves[1].records[step].loss, two.loss);
  }
  EXPECT_NEAR_ALL(std::span<const float>(halves[0].weights), std::span<const float>(whole.weights), test::training_tolerance());
}

TEST(Ranks, OneIsNeverAskedAndLearnsTheSameBits) {
  struct Silent final : Communicator {
    std::size_t rank() const override { return 0; }
    std::size_t size() const override { return 1; }
    void sum(std::span<const std::span<float>>) override { ADD_FAILURE(); }
    void sum(std::span<double>) override { ADD_FAILURE(); }
    void largest(std::span<std::int32_t>) override { ADD_FAILURE(); }
  } silent;
  test::SmallRun run(plain_options(), with_dropout());
  const Course without = course_of(*run.data, plain_options(), silent, 4);
  run.steps(4);
  EXPECT_EQ(test::bits_of(run.trainer.snapshot()), without.bits);
}

TEST(Ranks, SkipAStepTogetherWhoseGradientIsBadOnOne) {
  struct BreaksGradients final : TrainObserver {
    explicit BreaksGradients(Model& m) : model(m) {}
    void on_backward(std::int64_t step) override {
      if (step != 2) return;
      for_each_parameter(model, [](Parameter& p) { p.value.grad().values<float>()[0] = std::nanf(""); });
    }
    Model& model;
  };
  const UnevenData data;
  TrainerOptions options = plain_options();
  options.on_nan = OnNan::skip;
  std::vector<std::string> bits(2);
  on_two_ranks([&](Communicator& ranks) {
    const auto model = make_model(with_dropout());
    Trainer trainer(*model, data, options, ranks);
    BreaksGradients breaks(*model);
    if (ranks.rank() == 1) trainer.observe(&breaks);
    for (const StepOutcome expected : {StepOutcome::updated, StepOutcome::skipped, StepOutcome::updated})
      EXPECT_EQ(trainer.step().outcome, expected) << ranks.rank();
    bits[ranks.rank()] = test::bits_of(trainer.snapshot());
  });
  EXPECT_EQ(bits[0], bits[1]);
}

TEST(Ranks, StopTogetherWhenOneWantsTo) {
  const UnevenData data;
  on_two_ranks([&](Communicator& ranks) {
    const auto model = make_model(with_dropout());
    Trainer trainer(*model, data, plain_options(), ranks);
    EXPECT_FALSE(trainer.step().stop);
    EXPECT_TRUE(trainer.step(ranks.rank() == 1).stop) << ranks.rank();
  });
}

TEST(Ranks, EndAStepTogetherThatFailsOnOneAndChangeNothing) {
  const UnevenData good;
  UnevenData bad;
  bad.broken = 8;  // of the second step
  on_two_ranks([&](Communicator& ranks) {
    const auto model = make_model(with_dropout());
    Trainer trainer(*model, ranks.rank() == 1 ? bad : good, plain_options(), ranks);
    trainer.step();
    const std::string before = test::bits_of(test::copy_of(trainer.snapshot()));
    const std::string what = ranks.rank() == 1 ? "sample is gone" : "step 2: another rank failed";
    EXPECT_TRUE(throws_saying<Error>([&] { trainer.step(); }, {what}));
    EXPECT_EQ(test::bits_of(trainer.snapshot()), before);
  });
}

TEST(Ranks, RefuseWhatTheyCannotShare) {
  struct Three final : Communicator {
    std::size_t rank() const override { return 2; }
    std::size_t size() const override { return 3; }
    void sum(std::span<const std::span<float>>) override {}
    void sum(std::span<double>) override {}
    void largest(std::span<std::int32_t>) override {}
  } three;
  const UnevenData data;
  TrainerOptions options = plain_options();
  const auto model = make_model(tiny_config());
  EXPECT_TRUE(
      throws_saying<UsageError>([&] { Trainer(*model, data, options, three); }, {"batch_size of 4", "3 ranks", "multiple of 3"}));
  ModelConfig config = tiny_config();
  config.norm = "batchnorm";
  options.batch_size = 6;
  const auto of_batches = make_model(config);
  EXPECT_TRUE(
      throws_saying<UsageError>([&] { Trainer(*of_batches, data, options, three); }, {"running_mean", "3 ranks", "one rank"}));
}

}  // namespace
}  // namespace addnorm
