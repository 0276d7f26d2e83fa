// The guard of losses and gradient norms: NaN, spikes, the window, and what other projects' guards do with a NaN.
#include "addnorm/train/guard.h"

#include <cmath>
#include <limits>

#include "core/json/record.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::kInf;
using test::kNaN;
using test::throws_saying;

constexpr GuardOptions kOn{.spike = 6};

/// n good steps: losses around 2, norms around 1.
void feed(Guard& guard, std::size_t n, std::uint64_t seed = 1) {
  const std::vector<float> losses = test::normal_values(n, seed, 2, 0.1), norms = test::normal_values(n, seed + 50, 1, 0.2);
  for (std::size_t i = 0; i < n; ++i)
    ASSERT_EQ(guard.judge(static_cast<double>(losses[i]), static_cast<double>(norms[i])).verdict, Verdict::ok);
}

TEST(Guard, CallsNaNAndInfinityBadFromTheFirstStepOnWhateverTheOptions) {
  for (const GuardOptions& options : {GuardOptions{}, kOn})
    for (const std::size_t before : {0u, 200u})
      for (const double bad : {kNaN, kInf, -kInf}) {
        Guard guard(options);
        feed(guard, before);
        const Judgement of_loss = guard.judge(bad, 1), of_norm = guard.judge(2, bad);
        EXPECT_EQ(of_loss.verdict, Verdict::bad);
        EXPECT_FALSE(of_loss.gradient);
        EXPECT_EQ(of_norm.verdict, Verdict::bad);
        EXPECT_TRUE(of_norm.gradient);
        EXPECT_EQ(guard.state().bad, 2u);
        EXPECT_EQ(guard.state().in_a_row, 2u);
      }
}

TEST(Guard, T05CallsAGradientAHundredTimesAsLargeASpikeOnce) {
  Guard guard(kOn);
  feed(guard, 100);
  const Judgement spike = guard.judge(2, 100);
  EXPECT_EQ(spike.verdict, Verdict::spike);
  EXPECT_TRUE(spike.gradient);
  EXPECT_EQ(guard.state().spikes, 1u);
  EXPECT_EQ(guard.judge(2, 1).verdict, Verdict::ok);
  EXPECT_EQ(guard.state().in_a_row, 0u);
  EXPECT_EQ(guard.judge(8, 1).verdict, Verdict::spike);
}

TEST(Guard, T05CountsASustainedDivergenceInARow) {
  Guard guard(kOn);
  feed(guard, 128);
  for (std::size_t i = 1; i <= 300; ++i) {
    EXPECT_EQ(guard.judge(5 + 0.01 * static_cast<double>(i), 1).verdict, Verdict::spike) << "it must not get used to it";
    EXPECT_EQ(guard.state().in_a_row, i);
  }
}

TEST(Guard, FindsNoSpikeBeforeThereAreEnoughValues) {
  Guard guard({.spike = 6, .window = 32, .least = 20});
  feed(guard, 19);
  EXPECT_EQ(guard.judge(1000, 1).verdict, Verdict::ok) << "this one is the 20th";
  Guard other({.spike = 6, .window = 32, .least = 20});
  feed(other, 20);
  EXPECT_EQ(other.judge(1000, 1).verdict, Verdict::spike);
}

TEST(Guard, PutsTheBorderWhereTheFormulaSays) {
  // 64 losses of 1 and 64 of 3: mean 2, deviation 1 (divided by n). Norms are constant: a deviation of 1 % of 5.
  GuardState state;
  for (int i = 0; i < 64; ++i) {
    state.losses.insert(state.losses.end(), {1, 3});
    state.norms.insert(state.norms.end(), {5, 5});
  }
  const auto verdict = [&](double loss, double norm) { return Guard(kOn, state).judge(loss, norm).verdict; };
  EXPECT_EQ(verdict(7.999, 5), Verdict::ok);
  EXPECT_EQ(verdict(8.001, 5), Verdict::spike);
  EXPECT_EQ(verdict(2, 5.299), Verdict::ok);
  EXPECT_EQ(verdict(2, 5.301), Verdict::spike);
  EXPECT_EQ(verdict(-1000, 0), Verdict::ok) << "a fall is no spike";
  EXPECT_EQ(describe(Guard(kOn, state).judge(12, 5)), "loss 12 is 10 deviations above 2, its mean over the last good steps");
  EXPECT_EQ(describe(Guard(kOn, state).judge(2, 5.5)),
            "gradient norm 5.5 is 10 deviations above 5, its mean over the last good steps");
  EXPECT_EQ(describe(Guard(kOn, state).judge(kNaN, 5)), "loss is nan");
  EXPECT_EQ(describe(Guard(kOn, state).judge(2, 5)), "ok");
}

TEST(Guard, TakesTheLastGoodStepsOnly) {
  Guard guard({.spike = 6, .window = 4, .least = 4});
  for (int i = 1; i <= 6; ++i) guard.judge(i, 10 * i);
  guard.judge(kNaN, 1);
  guard.judge(1, kInf);
  guard.judge(1e9, 1);
  EXPECT_EQ(guard.state().losses, (std::vector<double>{3, 4, 5, 6}));
  EXPECT_EQ(guard.state().norms, (std::vector<double>{30, 40, 50, 60}));
}

TEST(Guard, FollowsALossThatFallsAndOneThatRisesSlowly) {
  Guard guard(kOn);
  for (int i = 0; i < 2000; ++i)
    EXPECT_EQ(guard.judge(0.5 + 5 * std::exp(-i / 200.0), 1 + 0.5 * std::sin(i)).verdict, Verdict::ok);
  for (int i = 0; i < 2000; ++i) EXPECT_EQ(guard.judge(0.5 + 0.001 * i, 1 + 0.5 * std::sin(i)).verdict, Verdict::ok);
}

TEST(Guard, KeepsItsSensesBesideValuesWhoseSquaresAreNoNumbers) {
  Guard guard({.spike = 6, .window = 8, .least = 4});
  for (int i = 0; i < 8; ++i) EXPECT_EQ(guard.judge(1e300, 1e-300).verdict, Verdict::ok);
  EXPECT_EQ(guard.judge(1.1e300, 1e-300).verdict, Verdict::spike);
  EXPECT_EQ(guard.judge(1e300, 1.1e-300).verdict, Verdict::spike);
  Guard zeros({.spike = 6, .window = 8, .least = 4});
  for (int i = 0; i < 8; ++i) EXPECT_EQ(zeros.judge(0, 0).verdict, Verdict::ok);
  EXPECT_EQ(zeros.judge(0, 1e-9).verdict, Verdict::spike) << "anything is far from nothing but zeros";
}

TEST(Guard, T06KeepsNothingAndFindsNoSpikeWhileItIsOff) {
  Guard guard;
  feed(guard, 200);
  EXPECT_EQ(guard.judge(1e30, 1e30).verdict, Verdict::ok);
  EXPECT_TRUE(guard.state().losses.empty());
  EXPECT_TRUE(guard.state().norms.empty());
}

// What a NaN does to guards that others have written, and not to ours.

/// llm.c: running sums over a window, and a step is skipped when its z-score is finite and above the threshold.
class RunningSums {
 public:
  bool skips(double x) {
    if (window_.size() == 128) {
      sum_ -= window_.front();
      squares_ -= window_.front() * window_.front();
      window_.erase(window_.begin());
    }
    window_.push_back(x);
    sum_ += x;
    squares_ += x * x;
    if (window_.size() < 128) return false;
    const double mean = sum_ / 128, z = (x - mean) / std::sqrt(squares_ / 128 - mean * mean);
    return std::isfinite(z) && z > 6;
  }

 private:
  std::vector<double> window_;
  double sum_ = 0, squares_ = 0;
};

/// OLMo-core: every value enters the window; a step is taken only when it is below mean + 6 deviations.
class WindowOfAll {
 public:
  bool skips(double x) {
    window_.push_back(x);
    if (window_.size() > 128) window_.erase(window_.begin());
    if (window_.size() < 64) return false;
    double mean = 0, squares = 0;
    for (const double y : window_) mean += y / static_cast<double>(window_.size());
    for (const double y : window_) squares += (y - mean) * (y - mean);
    return !(x <= mean + 6 * std::sqrt(squares / static_cast<double>(window_.size())));
  }

 private:
  std::vector<double> window_;
};

/// Steps that are skipped: of 200 good ones, of one with `poison`, of 128 good ones after it, and of a real spike long
/// afterwards.
template <class Skips>
std::vector<int> skipped(double poison, Skips skips) {
  const std::vector<float> losses = test::normal_values(600, 3, 2, 0.1);
  std::size_t next = 0;
  const auto good = [&](int n) {
    int count = 0;
    for (int i = 0; i < n; ++i) count += skips(static_cast<double>(losses[next++]));
    return count;
  };
  std::vector<int> counts{good(200)};
  counts.push_back(skips(poison));
  counts.push_back(good(128));
  good(200);
  counts.push_back(skips(50));
  return counts;
}

TEST(Guard, T04ANaNIsNotTakenAndChangesNoLaterVerdict) {
  Guard guard(kOn);
  const auto ours = [&](double loss) { return guard.judge(loss, 1).verdict != Verdict::ok; };
  EXPECT_EQ(skipped(kNaN, ours), (std::vector<int>{0, 1, 0, 1}));
  Guard with(kOn), without(kOn);
  feed(with, 100);
  feed(without, 100);
  with.judge(kNaN, 1);
  with.judge(2, kInf);
  feed(with, 50, 9);
  feed(without, 50, 9);
  EXPECT_EQ(with.state().losses, without.state().losses);
  EXPECT_EQ(with.state().norms, without.state().norms);
}

TEST(NegativeControl, LlmCsGuardTakesTheNaNAndIsBlindFromThenOn) {
  RunningSums sums;
  const auto theirs = [&](double loss) { return sums.skips(loss); };
  EXPECT_EQ(skipped(kNaN, theirs), (std::vector<int>{0, 0, 0, 0}));
  RunningSums healthy;
  EXPECT_EQ(skipped(2, [&](double loss) { return healthy.skips(loss); }), (std::vector<int>{0, 0, 0, 1}));
}

TEST(NegativeControl, OlmoCoresGuardSkipsEveryGoodStepWhileTheNaNIsInItsWindow) {
  WindowOfAll window;
  EXPECT_EQ(skipped(kNaN, [&](double loss) { return window.skips(loss); }), (std::vector<int>{0, 1, 127, 1}));
}

// State.

TEST(GuardState, GoesThroughJsonAndGoesOnExactly) {
  Guard first(kOn);
  feed(first, 70);
  first.judge(kNaN, 1);
  GuardState restored;
  const std::string text = written(first.state()).dump();
  read(parsed(text, "state"), restored, JsonAt{"state", ""});
  EXPECT_EQ(restored.losses, first.state().losses);
  EXPECT_EQ(restored.norms, first.state().norms);
  EXPECT_EQ(restored.in_a_row, 1u);
  EXPECT_EQ(restored.bad, 1u);
  Guard second(kOn, restored);
  for (int i = 0; i < 100; ++i) {
    const double loss = i % 10 == 9 ? 20 : 2;
    EXPECT_EQ(first.judge(loss, 1).verdict, second.judge(loss, 1).verdict);
  }
  EXPECT_GT(first.state().spikes, 0u);
  EXPECT_EQ(first.state().spikes, second.state().spikes);
}

TEST(GuardState, IsRefusedWhenItCannotHaveBeenOurs) {
  EXPECT_TRUE(throws_saying<UsageError>([] { Guard(kOn, {.losses = {1, kNaN}, .norms = {1, 1}}); }, {"guard", "nan", "finite"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Guard(kOn, {.losses = {1, 2}, .norms = {1}}); }, {"2 losses", "1 gradient norms"}));
  EXPECT_TRUE(throws_saying<UsageError>(
      [] { Guard(kOn, {.losses = std::vector<double>(129, 1.0), .norms = std::vector<double>(129, 1.0)}); },
      {"129 losses", "at most 128"}));
}

TEST(GuardOptions, AreRefusedByNameValueAndRange) {
  const auto refused = [](const GuardOptions& options, std::initializer_list<std::string> parts) {
    EXPECT_TRUE(throws_saying<UsageError>([&] { Guard{options}; }, parts));
  };
  refused({.spike = -1}, {"spike", "-1", "0 (off)"});
  refused({.spike = kNaN}, {"spike", "nan"});
  refused({.spike = kInf}, {"spike", "inf"});
  refused({.window = 1, .least = 1}, {"window", "1"});
  refused({.window = 10, .least = 11}, {"least", "11", "2 ... 10"});
  refused({.least = 0}, {"least", "0"});
}

}  // namespace
}  // namespace addnorm
