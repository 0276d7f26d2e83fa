// The one definition of "trained".
#include "addnorm/lab/outcome.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/near.h"

namespace addnorm {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();
const Baselines kLanguage{.floor = 1.8, .uniform = 3.76, .unigram = 3.4, .bigram = 2.1};  // line 2.425

std::vector<double> falling(double from, double to, std::size_t steps = 100) {
  std::vector<double> losses;
  for (std::size_t i = 0; i < steps; ++i)
    losses.push_back(from + (to - from) * static_cast<double>(i) / static_cast<double>(steps - 1));
  return losses;
}
std::vector<double> joined(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(Outcome, DrawsTheLineThreeQuartersOfTheWayFromUnigramToBigram) {
  EXPECT_DOUBLE_EQ(trained_line(kLanguage), 3.4 - 0.75 * (3.4 - 2.1));
}

TEST(Outcome, DrawsItHalfWayToTheFloorWithoutABigram) {
  EXPECT_DOUBLE_EQ(trained_line({.floor = kNaN, .uniform = 2.0, .unigram = kNaN, .bigram = kNaN}), 1.0);
  EXPECT_DOUBLE_EQ(trained_line({.floor = 1.0, .uniform = 4.0, .unigram = 3.0, .bigram = kNaN}), 2.0);
}

TEST(Outcome, IsTrainedByTheMeanOfTheLastTwentyLosses) {
  EXPECT_EQ(judge(joined(falling(3.8, 2.5), std::vector<double>(20, 2.42)), kLanguage).outcome, Outcome::trained);
  EXPECT_NE(judge(joined(falling(3.8, 2.5), std::vector<double>(20, 2.43)), kLanguage).outcome, Outcome::trained);
  EXPECT_DOUBLE_EQ(judge(std::vector<double>(20, 2.25), kLanguage).loss, 2.25);
}

TEST(Outcome, DistinguishesSlowFromStuck) {
  EXPECT_EQ(judge(falling(3.8, 2.8, 300), kLanguage).outcome, Outcome::slow);
  EXPECT_EQ(judge(joined(falling(3.8, 3.4), std::vector<double>(100, 3.4)), kLanguage).outcome, Outcome::stuck);
  EXPECT_EQ(judge(std::vector<double>(100, 2.9), kLanguage).outcome, Outcome::stuck);  // off the plateau, but nothing falls
}

TEST(Outcome, OfFewStepsIsTooShortToTellUnlessItTrainedOrDiverged) {
  EXPECT_EQ(judge(std::vector<double>(99, 3.4), kLanguage).outcome, Outcome::too_short);
  EXPECT_EQ(judge(std::vector<double>(100, 3.4), kLanguage).outcome, Outcome::stuck);
  EXPECT_EQ(judge(falling(3.8, 2.8, 99), kLanguage).outcome, Outcome::too_short);  // whether slow or not
  EXPECT_EQ(judge(std::vector<double>(1, 3.8), kLanguage).outcome, Outcome::too_short);
  EXPECT_EQ(judge(std::vector<double>(20, 2.0), kLanguage).outcome, Outcome::trained);
  EXPECT_EQ(judge(std::vector<double>(5, 3.8), kLanguage, true).outcome, Outcome::diverged);
  EXPECT_EQ(judge(joined(std::vector<double>(30, 2.0), std::vector<double>(30, 3.7)), kLanguage).outcome, Outcome::diverged);
  EXPECT_EQ(judge(std::vector<double>(20, 3.4), kLanguage).text(), "too short to tell, 3.40");
}

TEST(Outcome, CountsStepsOfAWarmupByTheirShareOfTheRate) {
  EXPECT_DOUBLE_EQ(steps_at_full_rate(300, 0), 300);
  EXPECT_DOUBLE_EQ(steps_at_full_rate(300, 200), 200);
  EXPECT_DOUBLE_EQ(steps_at_full_rate(200, 200), 100);
  EXPECT_DOUBLE_EQ(steps_at_full_rate(100, 200), 25);
  EXPECT_EQ(judge(std::vector<double>(199, 3.4), kLanguage, false, 200).outcome, Outcome::too_short);
  EXPECT_EQ(judge(std::vector<double>(200, 3.4), kLanguage, false, 200).outcome, Outcome::stuck);
}

TEST(Outcome, SaysWhenARunThatHadTrainedDiverged) {
  const Judged j = judge(joined(falling(3.8, 2.0, 200), std::vector<double>(100, 3.7)), kLanguage);
  EXPECT_EQ(j.outcome, Outcome::diverged);
  EXPECT_GT(j.diverged_at, 200);
  EXPECT_LT(j.diverged_at, 220);
  EXPECT_NE(j.text().find("diverged at step 2"), std::string::npos);
}

TEST(Outcome, OfARunThatHoversAtTheLineIsNotDiverged) {
  // Below the line now and then, by chance; the last twenty happen to be above it.
  std::vector<double> losses = falling(3.8, 2.5, 100);
  for (int i = 0; i < 200; ++i) losses.push_back(2.43 + (i % 2 ? 0.08 : -0.08) + 0.03 * std::sin(i / 9.0));
  losses.resize(losses.size() - 20);
  for (int i = 0; i < 20; ++i) losses.push_back(2.46 + (i % 2 ? 0.08 : -0.08));
  const Judged j = judge(losses, kLanguage);
  EXPECT_LT(j.best, trained_line(kLanguage));
  EXPECT_GT(j.loss, trained_line(kLanguage));
  EXPECT_EQ(j.outcome, Outcome::stuck);
  EXPECT_EQ(j.diverged_at, 0);
}

TEST(Outcome, SaysSinceWhenARunWasWorseThanItsBest) {
  std::vector<double> losses = joined(falling(3.8, 2.0, 200), std::vector<double>(100, 2.3));
  losses = joined(losses, std::vector<double>(50, 3.0));
  const Judged j = judge(losses, kLanguage);  // 2.3 is below the line, and yet worse than 2.0
  EXPECT_EQ(j.outcome, Outcome::diverged);
  EXPECT_GE(j.diverged_at, 201);
  EXPECT_LT(j.diverged_at, 210);
  EXPECT_FALSE(j.broke_off);
}

TEST(Outcome, OfARunThatBrokeOffIsDivergedAtTheStepThatFailed) {
  const Judged j = judge(std::vector<double>(7, 3.8), kLanguage, true);
  EXPECT_EQ(j.outcome, Outcome::diverged);
  EXPECT_EQ(j.diverged_at, 8);
  EXPECT_TRUE(j.broke_off);
  EXPECT_EQ(judge({}, kLanguage, true).diverged_at, 1);
  EXPECT_EQ(judge({}, kLanguage).outcome, Outcome::diverged);  // nothing at all was learned
}

TEST(Outcome, DoesNotDependOnHowLargeTheFirstLossIs) {
  const Baselines labels{.floor = kNaN, .uniform = 3.5, .unigram = 3.3, .bigram = kNaN};  // line 1.65
  for (const double first : {3.5, 14.0, 1e6}) {
    SCOPED_TRACE(first);
    EXPECT_EQ(judge(joined({first}, std::vector<double>(120, 3.3)), labels).outcome, Outcome::stuck);
    EXPECT_EQ(judge(joined({first}, std::vector<double>(120, 1.6)), labels).outcome, Outcome::trained);
  }
}

TEST(Outcome, OfUnknownDataIsRefusedWithWhatToDo) {
  const Baselines none{kNaN, kNaN, kNaN, kNaN};
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { judge(std::vector<double>(100, 4), none); },
                                              {"neither unigram nor uniform", "label_baselines()"}));
}

}  // namespace
}  // namespace addnorm
