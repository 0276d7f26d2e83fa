// T-07: memory that runs out at any moment of training ends in an error, never in a crash, a leak or a file half written.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/train/run.h"
#include "core/json/json.h"
#include "support/faults/failing_new.h"
#include "support/models/training.h"
#include "support/sanitizer.h"

namespace addnorm {
namespace {

using test::bits_of;
using test::copy_of;

ModelConfig smallest_config() {
  ModelConfig config = test::tiny_config();
  config.layers = 1;
  config.d_model = 4;
  config.seq_len = 4;
  return config;
}

TEST(Allocations, T07EveryOneOfASmallTrainingMayFail) {
  TrainerOptions options = test::tiny_options();
  options.batch_size = 2;
  const auto trained = [&] {
    test::SmallRun run(options, smallest_config());
    std::vector<std::string> all;
    for (int i = 0; i < 2; ++i) run.trainer.step();
    all.push_back(bits_of(run.trainer.snapshot()));
    return all;
  };
  const auto want = trained();
  std::vector<std::string> got;
  const std::size_t allocations = test::with_every_allocation_failing<Error>(
      [&] {
        got.clear();
        got = trained();
      },
      [&] { EXPECT_TRUE(got.empty() || got == want); });
  EXPECT_GT(allocations, 500u);
  EXPECT_TRUE(got == want);
}

/// What becomes of a step.
struct Fate {
  const char* name;
  OptimizerKind kind;
  OnNan policy;
  float factor;  // of some gradients of step 3
};

/// A trainer in the middle of things: after two steps, with running statistics, a guard whose window is not empty, and a
/// snapshot to go back to.
struct Interrupted {
  explicit Interrupted(const Fate& fate)
      : run(options(fate), config()), spoil([fate](std::int64_t step, Model& model) {
          if (step != 3 || fate.factor == 1) return;
          for_each_parameter(model, [&](Parameter& p) { p.value.grad().values<float>()[0] *= fate.factor; });
        }) {
    run.trainer.rollback_to([this] { return kept; });
    run.steps(1);
    kept = copy_of(run.trainer.snapshot());
    run.steps(1);
    run.trainer.observe(&spoil);
  }
  static TrainerOptions options(const Fate& fate) {
    TrainerOptions all = test::tiny_options();
    all.batch_size = 2;
    all.on_nan = fate.policy;
    all.spike_threshold = 1e6;
    all.optimizer = usual_options(fate.kind);
    return all;
  }
  static ModelConfig config() {
    ModelConfig all = smallest_config();
    all.norm = "batchnorm";
    return all;
  }
  std::string bits() { return bits_of(run.trainer.snapshot()); }

  test::SmallRun run;
  test::GradientMeddler spoil;
  std::optional<Snapshot> kept;
};

/// The third step of a fresh trainer, with allocation 0, 1, 2, ... of it failing (one in seven where that is slow); check() after
/// each. How many there were.
template <class Check>
std::size_t with_every_step_failing(const Fate& fate, std::unique_ptr<Interrupted>& disturbed, Check&& check) {
  for (std::size_t number = 0;; number += test::kSanitized ? 7 : 1) {
    disturbed = std::make_unique<Interrupted>(fate);
    try {
      const test::FailingAllocation failing(number);
      disturbed->run.trainer.step();
    } catch (const std::bad_alloc&) {
    } catch (const Error&) {
    }
    const bool happened = test::FailingAllocation::happened();
    check();
    if (!happened || testing::Test::HasFailure()) return number;
  }
}

// Parameters, optimizer, guard, counters and running statistics: a snapshot has them all.
TEST(Allocations, T07AStepIsDoneOrLeavesEveryBitAsItWas) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const Fate& fate : {Fate{"updated by adamw", OptimizerKind::adamw, OnNan::stop, 1},
                           Fate{"updated by sgd", OptimizerKind::sgd, OnNan::stop, 1},
                           Fate{"updated by adafactor", OptimizerKind::adafactor, OnNan::stop, 1},
                           Fate{"skipped", OptimizerKind::adamw, OnNan::skip, kNan},
                           Fate{"rolled back", OptimizerKind::adamw, OnNan::rollback, kNan}}) {
    SCOPED_TRACE(fate.name);
    Interrupted undisturbed(fate);
    const std::string before = undisturbed.bits();
    undisturbed.run.trainer.step();
    const std::string after = undisturbed.bits();
    undisturbed.run.trainer.step();
    const std::string next = undisturbed.bits();
    ASSERT_TRUE(before != after && after != next);
    std::unique_ptr<Interrupted> disturbed;
    std::size_t undone = 0;
    const auto check = [&] {
      const std::string now = disturbed->bits();
      const bool done = now == after;
      EXPECT_TRUE(done || now == before);
      undone += !done;
      if (!done) disturbed->run.trainer.step();
      EXPECT_TRUE(disturbed->bits() == after);
      disturbed->run.trainer.step();
      EXPECT_TRUE(disturbed->bits() == next);
    };
    const std::size_t allocations = with_every_step_failing(fate, disturbed, check);
    EXPECT_GT(undone, 20u) << "of " << allocations;
  }
}

TEST(Allocations, T07ACopyOfAJsonValueIsWholeOrThrows) {
  const std::string word(100, 'x');
  const Json value{{"text", word}, {"list", Json::array({1, word, Json{{"inside", word}}})}, {word, std::vector<double>{1, 2}}};
  Json got;
  const std::size_t allocations = test::with_every_allocation_failing<Error>([&] { got = value; },
                                                                             [&] {
                                                                               EXPECT_TRUE(got.is_null() || got == value);
                                                                               got = nullptr;
                                                                             });
  EXPECT_GE(allocations, 8u);
}

TEST(Allocations, T07AMessageIsWholeOrThrows) {
  const std::string word(1000, 'x'), want = word + "7" + word;
  std::string got;
  const std::size_t allocations = test::with_every_allocation_failing<Error>(
      [&] {
        got.clear();
        got = concat(word, 7, word);
      },
      [&] { EXPECT_TRUE(got.empty() || got == want) << got; });
  EXPECT_GE(allocations, 2u);
}

}  // namespace
}  // namespace addnorm
