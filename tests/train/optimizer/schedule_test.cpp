#include "addnorm/train/schedule.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "support/near.h"

namespace addnorm {
namespace {

using test::throws_saying;

constexpr ScheduleKind kScheduleKinds[] = {ScheduleKind::constant, ScheduleKind::linear, ScheduleKind::cosine,
                                           ScheduleKind::inverse_sqrt};

void expect_rate(const Schedule& schedule, std::int64_t step, double want) {
  EXPECT_NEAR(schedule.at(step), want, test::double_tolerance().rtol * schedule.rate)
      << name_of(schedule.kind) << ", step " << step;
}

TEST(Schedule, RisesFromNearZeroToTheRateThroughWarmUpOfEveryKind) {
  for (const ScheduleKind kind : kScheduleKinds) {
    const Schedule s{.kind = kind, .rate = 0.5, .least = 0.1, .warmup = 100, .steps = 1000};
    EXPECT_EQ(s.at(1), 0.005);
    EXPECT_EQ(s.at(100), 0.5);
    for (std::int64_t step = 2; step <= 100; ++step) EXPECT_GT(s.at(step), s.at(step - 1)) << name_of(kind);
    for (std::int64_t step = 101; step <= 1000; ++step) EXPECT_LE(s.at(step), 0.5) << name_of(kind);
    expect_rate(s, 37, 0.5 * 0.37);
  }
}

TEST(Schedule, FollowsTheFormulaOfEachKind) {
  const Schedule constant{.kind = ScheduleKind::constant, .rate = 0.5, .warmup = 10, .steps = 50};
  for (const std::int64_t step : {10, 11, 30, 50, 5000}) EXPECT_EQ(constant.at(step), 0.5);

  const Schedule linear{.kind = ScheduleKind::linear, .rate = 0.5, .least = 0.1, .warmup = 10, .steps = 50};
  expect_rate(linear, 11, 0.5);
  expect_rate(linear, 12, 0.1 + 0.4 * 39 / 40);
  expect_rate(linear, 31, 0.3);
  expect_rate(linear, 50, 0.1 + 0.4 / 40);

  const Schedule cosine{.kind = ScheduleKind::cosine, .rate = 0.5, .least = 0.1, .warmup = 10, .steps = 50};
  expect_rate(cosine, 11, 0.5);
  expect_rate(cosine, 21, 0.1 + 0.2 * (1 + std::sqrt(0.5)));
  expect_rate(cosine, 31, 0.3);
  expect_rate(cosine, 41, 0.1 + 0.2 * (1 - std::sqrt(0.5)));
  expect_rate(cosine, 50, 0.1 + 0.2 * (1 + std::cos(std::numbers::pi * 39 / 40)));

  const Schedule root{.kind = ScheduleKind::inverse_sqrt, .rate = 0.5, .warmup = 16, .steps = 50};
  expect_rate(root, 64, 0.25);
  expect_rate(root, 1600, 0.05);
}

TEST(Schedule, FallsStepByStepAfterWarmUp) {
  for (const ScheduleKind kind : {ScheduleKind::linear, ScheduleKind::cosine, ScheduleKind::inverse_sqrt}) {
    const Schedule s{.kind = kind, .rate = 1, .warmup = 5, .steps = 200};
    for (std::int64_t step = 7; step <= 200; ++step) EXPECT_LT(s.at(step), s.at(step - 1)) << name_of(kind) << " " << step;
  }
}

TEST(Schedule, HasARateAboveZeroInEveryStepOfARun) {
  for (const ScheduleKind kind : kScheduleKinds)
    for (const std::int64_t warmup : {0, 1, 2, 3, 50})
      for (std::int64_t steps = 1; steps <= 4; ++steps)
        for (std::int64_t step = 1; step <= steps; ++step) {
          const double rate = Schedule{.kind = kind, .rate = 1, .warmup = warmup, .steps = steps}.at(step);
          EXPECT_GT(rate, 0) << name_of(kind) << ", warm-up " << warmup << ", step " << step << " of " << steps;
          EXPECT_LE(rate, 1);
        }
}

TEST(Schedule, StartsAtTheRateWithoutWarmUpAndOfOneStepIsTheRate) {
  for (const ScheduleKind kind : kScheduleKinds) {
    EXPECT_EQ((Schedule{.kind = kind, .rate = 0.25, .steps = 100}.at(1)), 0.25) << name_of(kind);
    EXPECT_EQ((Schedule{.kind = kind, .rate = 0.25, .steps = 1}.at(1)), 0.25) << name_of(kind);
    EXPECT_EQ((Schedule{.kind = kind, .rate = 0.25, .steps = 1}.at(0)), 0.25) << name_of(kind);
    EXPECT_EQ((Schedule{.kind = kind, .rate = 0.25, .steps = 1}.at(-5)), 0.25) << name_of(kind);
  }
}

TEST(Schedule, EndsWhileItRisesWhereWarmUpIsLongerThanTheRun) {
  for (const ScheduleKind kind : kScheduleKinds) {
    const Schedule s{.kind = kind, .rate = 1, .warmup = 100, .steps = 50};
    expect_rate(s, 50, 0.5);
    expect_rate(s, 60, s.depends_on_steps() ? 0.5 : 0.6);
    const Schedule equal{.kind = kind, .rate = 1, .warmup = 50, .steps = 50};
    expect_rate(equal, 50, 1);
    EXPECT_GT(equal.at(51), 0.9);
  }
}

TEST(Schedule, StaysBeyondTheEndWhereItDependsOnIt) {
  for (const ScheduleKind kind : {ScheduleKind::linear, ScheduleKind::cosine}) {
    const Schedule s{.kind = kind, .rate = 1, .least = 0.1, .warmup = 10, .steps = 100};
    EXPECT_TRUE(s.depends_on_steps());
    EXPECT_EQ(s.at(101), s.at(100));
    EXPECT_EQ(s.at(std::numeric_limits<std::int64_t>::max()), s.at(100));
  }
  for (const ScheduleKind kind : {ScheduleKind::constant, ScheduleKind::inverse_sqrt}) {
    const Schedule s{.kind = kind, .rate = 1, .warmup = 10, .steps = 100},
        other{.kind = kind, .rate = 1, .warmup = 10, .steps = 7};
    EXPECT_FALSE(s.depends_on_steps());
    for (const std::int64_t step : {1, 10, 11, 100, 1000}) EXPECT_EQ(s.at(step), other.at(step));
  }
}

TEST(Schedule, IsThatOfVaswaniByNoam) {
  const Schedule s = noam(512, 4000, 2);
  for (const std::int64_t step : {1, 100, 3999, 4000, 4001, 100000}) {
    const auto t = static_cast<double>(step);
    expect_rate(s, step, 2 / std::sqrt(512.0) * std::min(1 / std::sqrt(t), t * std::pow(4000.0, -1.5)));
  }
  EXPECT_TRUE(throws_saying<UsageError>([] { noam(0, 1); }, {"noam", "d_model is 0"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { noam(8, 0); }, {"noam", "0 steps", "at least 1"}));
}

TEST(Schedule, IsRefusedByNameValueAndRange) {
  const auto refused = [](const Schedule& s, std::initializer_list<std::string> parts) {
    EXPECT_TRUE(throws_saying<UsageError>([&] { check(s); }, parts));
  };
  const double nan = std::nan("");
  refused({.rate = nan}, {"rate", "nan"});
  refused({.rate = -1}, {"rate", "-1"});
  refused({.rate = std::numeric_limits<double>::infinity()}, {"rate", "inf"});
  refused({.rate = 0.1, .least = 0.2}, {"least", "0.2", "0 ... 0.1"});
  refused({.least = nan}, {"least", "nan"});
  refused({.warmup = -1}, {"warm-up", "-1"});
  refused({.steps = 0}, {"0 steps", "at least 1"});
  refused({.kind = static_cast<ScheduleKind>(7)}, {"kind", "7", "cosine"});
  for (const ScheduleKind kind : kScheduleKinds) EXPECT_EQ(schedule_named(name_of(kind)), kind);
  EXPECT_EQ(schedule_named("inverse_sqrt"), ScheduleKind::inverse_sqrt);
  EXPECT_TRUE(throws_saying<UsageError>([] { schedule_named("cosin"); }, {"unknown schedule 'cosin'", "did you mean cosine?"}));
}

}  // namespace
}  // namespace addnorm
