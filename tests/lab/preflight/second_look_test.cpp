// The second look: how far it goes, when it is settled, and what it says at its end.
#include "lab/preflight/second_look.h"

#include <gtest/gtest.h>

#include <cmath>

#include "addnorm/core/error.h"
#include "lab/preflight/candidate.h"

namespace addnorm {
namespace {

/// Plateau 3, line 2.25: three quarters of the way to 2.
const Baselines kKnown{.floor = 1.8, .uniform = 4, .unigram = 3, .bigram = 2};

/// A loss that falls by `fall` in every step until it is `loss`.
Trial trial(std::size_t steps, double loss, double gradient, double spread, double fall = 0) {
  StackRecord stack{.name = "stack", .units = {"layers.0.self", "layers.0.ffn"}};
  stack.gradient_norm = {gradient, 1, 1};
  stack.spread = {1, 1, spread};
  Trial t{.records = {{.step = static_cast<std::int64_t>(steps), .stacks = {stack}}}};
  for (std::size_t i = steps; i-- > 0;) t.losses.push_back(loss + fall * static_cast<double>(i));
  return t;
}
constexpr double kQuick = 0.01, kSlow = 0.001;
Course course(const Trial& t, std::size_t warmup = 0, const std::optional<Baselines>& baselines = kKnown) {
  return course_of(t, read_trial(t, {.only_last_step = true}), warmup, baselines);
}

TEST(SecondLook, IsLostWhereTokensAreAlikeAndNoGradientArrives) {
  EXPECT_EQ(course(trial(40, 3, 0.1, 5e-4)), Course::lost);
  EXPECT_EQ(course(trial(30, 3, 0.1, 5e-4)), Course::open) << "too early";
  EXPECT_EQ(course(trial(40, 3, 5, 5e-4)), Course::open) << "plenty of gradient";
  EXPECT_EQ(course(trial(40, 3, 0.1, 2e-3)), Course::open);
  Trial broken = trial(10, 3, 1, 0.5);
  broken.broke_off = "step 11: the loss is nan";
  EXPECT_EQ(course(broken), Course::lost);
}

TEST(SecondLook, HasRecoveredWhereTheLossLeavesThePlateau) {
  EXPECT_EQ(course(trial(60, 2.7, 1, 0.5, kQuick)), Course::recovered);
  EXPECT_EQ(course(trial(60, 2.9, 1, 0.5, kQuick)), Course::open) << "frequencies alone give 3";
  EXPECT_EQ(course(trial(50, 2.7, 1, 0.5, kQuick)), Course::open) << "too early";
  EXPECT_EQ(course(trial(60, 2.7, 1, 0.5, kQuick), 80), Course::open) << "the full rate is still to come";
  EXPECT_EQ(course(trial(60, 2.7, 1, 0.5, kQuick), 0, std::nullopt), Course::open) << "nothing is known of the data";
}

TEST(SecondLook, AsksWhetherItWillBeBelowTheLineInTime) {
  EXPECT_EQ(course(trial(100, 2.6, 1, 0.5, kQuick)), Course::recovered);
  EXPECT_EQ(course(trial(100, 2.6, 1, 0.5, kSlow)), Course::open) << "2.4 at step 300, where 2.25 has trained";
  EXPECT_EQ(course(trial(100, 2.6, 1, 0.5)), Course::open) << "it does not fall any more";
  EXPECT_EQ(course(trial(100, 2.2, 1, 0.5)), Course::recovered) << "below the line";
  const auto trains = [](double fall) { return read_second_look(trial(180, 2.6, 1, 0.5, fall), 0, kKnown).trains(); };
  EXPECT_TRUE(trains(0.004)) << "2.12 at step 300";
  EXPECT_FALSE(trains(0.002)) << "2.36 at step 300";
}

TEST(SecondLook, DecidesByTheLossWhereItWasLongEnough) {
  const auto sign = [](const Trial& t) { return read_second_look(t, 0, kKnown).sign; };
  EXPECT_EQ(sign(trial(180, 2.7, 1, 0.5, kQuick)), Sign::healthy);
  EXPECT_EQ(sign(trial(180, 2.95, 1, 0.5)), Sign::stuck);
  EXPECT_EQ(sign(trial(180, 2.95, 1, 0.5, kSlow)), Sign::slow);
  EXPECT_EQ(sign(trial(180, 3.5, 1, 0.5)), Sign::slow) << "not even what frequencies give";
  EXPECT_EQ(sign(trial(180, 2.95, 1, 0.02)), Sign::alike);
  EXPECT_EQ(sign(trial(180, 2.95, 0.01, 0.002)), Sign::vanished);
  EXPECT_EQ(sign(trial(100, 2.95, 1, 0.5)), Sign::healthy) << "too early for the loss: tokens differ";
  EXPECT_EQ(sign(trial(100, 2.95, 1, 0.02)), Sign::alike);
  EXPECT_TRUE(read_second_look(trial(180, 2.95, 1, 0.5), 0, std::nullopt).trains()) << "no loss to compare with";
  EXPECT_FALSE(read_second_look(trial(180, 2.95, 1e-6, 0.5), 0, std::nullopt).trains()) << "no gradient arrives";
}

TEST(SecondLook, DistinguishesALossThatRoseFromOneThatIsSlow) {
  EXPECT_EQ(read_second_look(trial(180, 6, 1, 0.5, -0.01), 0, kKnown).sign, Sign::rising);
  const Reading idle = read_second_look(trial(180, 3.9, 1, 0.5), 0, kKnown);
  EXPECT_EQ(idle.sign, Sign::slow);
  EXPECT_NE(idle.text().find("hardly anything is learned at this rate"), std::string::npos) << idle.text();
}

TEST(SecondLook, SaysWhereALossStaysThatHasLeftThePlateau) {
  const Reading near = read_second_look(trial(300, 2.3, 1, 0.5), 0, kKnown);
  EXPECT_EQ(near.sign, Sign::stuck);
  EXPECT_EQ(near.text(), "after 300 steps the loss is 2.30 and falls no more in time; below 2.25 counts as trained");
  const Reading far = read_second_look(trial(300, 2.95, 1, 0.5), 0, kKnown);
  EXPECT_NE(far.text().find("hardly below what frequencies alone give"), std::string::npos) << far.text();
}

TEST(SecondLook, SaysWhereASlowLossWillBe) {
  const Reading r = read_second_look(trial(180, 2.95, 1, 0.5, kSlow), 0, kKnown);
  EXPECT_NEAR(r.ahead, 2.95 - 0.12, 0.01);
  EXPECT_NE(
      r.text().find("slow, not stuck: after 180 steps the loss is 2.95; as it falls it is 2.83 at step 300, and below 2.25"),
      std::string::npos)
      << r.text();
}

TEST(SecondLook, GoesAsFarAsItMayAndBecomesNarrowerBeyondThat) {
  GivenOptions given = run_options_from_json(
      R"({"layers": 12, "d_model": 64, "heads": 2, "seq_len": 64, "batch_size": 8, "warmup_steps": 400, "steps": 1000})",
      "the test");
  RunOptions o = planned(given, {});
  o.model.vocab = 43;
  o.model = completed(o.model);
  const SecondLook whole = second_look_within(o, 1e13, true);
  EXPECT_EQ(whole.steps, kMostLater);
  EXPECT_EQ(whole.options.model.d_model, 64);
  EXPECT_EQ(whole.options.batch_size, 8);
  EXPECT_EQ(*whole.options.warmup_steps, 200);
  EXPECT_EQ(whole.twin, "");
  const double decisive = static_cast<double>(kDecisive) * step_flops(whole.options);
  const SecondLook patient = second_look_within(o, 0.9 * decisive, true);  // its 120 steps take a little longer than they should
  EXPECT_EQ(patient.steps, kDecisive);
  EXPECT_EQ(patient.options.model.d_model, 64);
  const SecondLook twin = second_look_within(o, 0.9 * decisive / kOverBudget, true);
  EXPECT_GE(twin.steps, kDecisive);
  EXPECT_EQ(twin.options.model.d_model, 32);
  EXPECT_EQ(*twin.options.warmup_steps, twin.steps * 2 / 3);
  EXPECT_NE(twin.twin, "");
}

}  // namespace
}  // namespace addnorm
