// How a trial is read: each side of each line, and the sentence that names the unit.
#include "lab/preflight/rule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace addnorm {
namespace {

/// A stack of four units; gradients of its five places relative to the top.
ProbeRecord record(std::vector<double> gradient, double spread, const std::string& name = "stack") {
  StackRecord stack{.name = name, .units = {"layers.0.self", "layers.0.ffn", "layers.1.self", "layers.1.ffn"}};
  stack.gradient_norm = std::move(gradient);
  stack.spread = {1, 1, 1, 1, spread};
  return {.step = 1, .stacks = {stack}};
}
Trial trial(std::vector<ProbeRecord> records) {
  Trial t{.records = std::move(records)};
  t.losses.assign(20, 3.0);
  return t;
}
const std::vector<double> kEven{1, 1, 1, 1, 1};

TEST(Rule, PassesWhereTokensDifferAndTheGradientReachesTheFirstUnit) {
  const Reading r = read_trial(trial({record(kEven, 0.5), record({3, 2, 1, 1, 1}, 0.02)}));
  EXPECT_TRUE(r.trains());
  EXPECT_NEAR(r.margin, std::log10(2.0), 1e-12);
  EXPECT_DOUBLE_EQ(r.gradient, 3);
}

TEST(Rule, NamesTheUnitBelowWhichNoGradientIsLeft) {
  const Reading r = read_trial(trial({record(kEven, 0.5), record({0.01, 0.02, 0.09, 0.5, 1}, 0.003)}));
  EXPECT_EQ(r.sign, Sign::vanished);
  EXPECT_EQ(r.gone_below, 3);  // the third unit stands between a place with 0.09 and one with 0.5
  EXPECT_NE(r.text().find("no gradient reaches below unit 3 of 4; tokens have become alike at the top"), std::string::npos)
      << r.text();
  EXPECT_LT(r.margin, 0);
}

TEST(Rule, DistinguishesTokensThatAreAlikeFromAVanishedGradient) {
  const Reading r = read_trial(trial({record(kEven, 0.5), record(kEven, 0.002)}));
  EXPECT_EQ(r.sign, Sign::alike);
  EXPECT_NE(r.text().find("tokens have become alike"), std::string::npos);
}

TEST(Rule, LetsAlikeTokensPassWherePlentyOfGradientReachesTheBottom) {
  EXPECT_TRUE(read_trial(trial({record({5, 4, 3, 2, 1}, 0.004)})).trains());
  EXPECT_FALSE(read_trial(trial({record({2, 2, 1, 1, 1}, 0.004)})).trains());
}

TEST(Rule, AsksMoreGradientOfSgd) {
  const Trial t = trial({record({0.05, 0.1, 0.5, 1, 1}, 0.5)});
  EXPECT_TRUE(read_trial(t).trains());
  EXPECT_FALSE(read_trial(t, {.optimizer = OptimizerKind::sgd}).trains());
}

TEST(Rule, RemembersAGradientThatWasGoneBefore) {
  const Reading r = read_trial(trial({record({1e-5, 1e-3, 0.1, 0.5, 1}, 0.9), record(kEven, 0.5)}));
  EXPECT_EQ(r.sign, Sign::vanished);
  EXPECT_NE(r.text().find("1e-05"), std::string::npos) << r.text();
}

TEST(Rule, FailsAGradientBeyondAllBoundsAndANumberThatIsNotFinite) {
  EXPECT_EQ(read_trial(trial({record({1e6, 1, 1, 1, 1}, 0.5)})).sign, Sign::exploded);
  EXPECT_EQ(read_trial(trial({record({std::nan(""), 1, 1, 1, 1}, 0.5)})).sign, Sign::exploded);
  Trial broken = trial({record(kEven, 0.5)});
  broken.broke_off = "step 3: the loss is nan";
  const Reading r = read_trial(broken);
  EXPECT_FALSE(r.trains());
  EXPECT_EQ(r.text(), "step 3: the loss is nan");
  EXPECT_FALSE(read_trial({.broke_off = "step 1: the loss is inf"}).trains());
}

TEST(Rule, LeavesBetweenTheLinesToASecondLook) {
  const auto standing = [](double gradient, double spread, const RuleContext& context = {}) {
    return standing_of(read_trial(trial({record({gradient, 1, 1, 1, 1}, spread)}), context), context);
  };
  EXPECT_EQ(standing(0.2, 0.03), Standing::passes);
  EXPECT_EQ(standing(0.2, 0.015), Standing::open) << "near the line";
  EXPECT_EQ(standing(0.2, 0.0005), Standing::open) << "tokens may come apart again";
  EXPECT_EQ(standing(0.2, 1e-6), Standing::fails);
  EXPECT_EQ(standing(1e6, 0.5), Standing::fails);
  EXPECT_EQ(standing(1, 0.5, {.optimizer = OptimizerKind::sgd}), Standing::open);
  EXPECT_EQ(standing(1, 0.5, {.plateau = 2.95}), Standing::passes);
  EXPECT_EQ(standing(1, 0.5, {.plateau = 2.8}), Standing::open) << "a loss of 3 is above: it may be too slow";
  Trial broken = trial({record({0.2, 1, 1, 1, 1}, 0.5)});
  broken.broke_off = "step 3: the loss is nan";
  EXPECT_EQ(standing_of(read_trial(broken), {}), Standing::fails);
}

TEST(Rule, OfALongerTrialCountsItsLastStep) {
  const Trial recovered = trial({record({1e-5, 1e-3, 0.1, 0.5, 1}, 1e-3), record({0.05, 1, 1, 1, 1}, 0.5)});
  EXPECT_FALSE(read_trial(recovered).trains());
  EXPECT_TRUE(read_trial(recovered, {.only_last_step = true}).trains());
  EXPECT_TRUE(read_trial(recovered, {.optimizer = OptimizerKind::sgd, .only_last_step = true}).trains());
}

TEST(Rule, ReadsTheWorseOfTwoStacksAndNamesIt) {
  ProbeRecord both = record(kEven, 0.5, "encoder");
  both.stacks.push_back(record({0.001, 0.01, 0.2, 1, 1}, 0.001, "decoder").stacks[0]);
  const Reading r = read_trial(trial({both}));
  EXPECT_FALSE(r.trains());
  EXPECT_NE(r.text().find("of the decoder"), std::string::npos) << r.text();
}

}  // namespace
}  // namespace addnorm
