#include "lab/preflight/second_look.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "lab/preflight/candidate.h"
#include "tensor/numbers.h"

namespace addnorm {
namespace {

constexpr std::size_t kLossesSeen = 10, kLostFrom = 40, kRecoveredFrom = 60;
constexpr double kWorse = 0.1;   // nats above the first loss, which chance does not bring about
constexpr double kMoves = 0.05;  // of the way from the plateau to the line, until the horizon: less is no movement

/// Where the loss is, and where it will be at the horizon if it falls as it did over the last kTrend steps; never above where it
/// is.
struct Trend {
  double now, ahead;
};
Trend trend_of(std::span<const double> losses) {
  const double now = mean_of(losses.last(kLossesSeen));
  if (losses.size() < kTrend + kLossesSeen) return {now, now};
  const double before = mean_of(losses.subspan(losses.size() - kTrend - kLossesSeen, kLossesSeen));
  const std::size_t left = kForecastSteps - std::min(kForecastSteps, losses.size());
  const double fall = std::max(0.0, before - now) / static_cast<double>(kTrend);
  return {now, now - fall * static_cast<double>(left)};
}

/// The way from the plateau to the line that a run has gone, and will have gone.
struct Progress {
  double now, ahead;
};
/// Nothing: losses are not compared with these, or there are too few.
std::optional<Progress> progress_of(const Trial& trial, const std::optional<Baselines>& baselines) {
  if (!baselines || trial.losses.size() < kLossesSeen) return std::nullopt;
  const double from = plateau(*baselines), line = trained_line(*baselines);
  const Trend trend = trend_of(trial.losses);
  return Progress{(from - trend.now) / (from - line), (from - trend.ahead) / (from - line)};
}

}  // namespace

SecondLook second_look_within(const RunOptions& options, double flops, bool may_shorten) {
  const Twin twin = twin_within(options, kOverBudget * flops / static_cast<double>(kDecisive), may_shorten, kUsualTokens);
  SecondLook look{.options = twin.options, .twin = twin.summary};
  look.steps = static_cast<std::size_t>(std::clamp(flops / step_flops(look.options), 1.0 * kDecisive, 1.0 * kMostLater));
  look.options.warmup_steps = std::min(look.options.warmup_steps.value_or(0), look.steps * 2 / 3);
  return look;
}

Course course_of(const Trial& trial, const Reading& reading, std::size_t warmup, const std::optional<Baselines>& baselines) {
  const std::size_t steps = trial.losses.size();
  if (!trial.broke_off.empty()) return Course::lost;
  if (steps >= kLostFrom && reading.spread < kLost && reading.gradient < 1) return Course::lost;
  const auto progress = progress_of(trial, baselines);
  if (!progress || steps < kRecoveredFrom || steps <= warmup) return Course::open;
  const bool recovered = progress->now > 1 || (progress->now > kRecovered && progress->ahead > kSurely);
  return recovered ? Course::recovered : Course::open;
}

Reading read_second_look(const Trial& trial, std::size_t warmup, const std::optional<Baselines>& baselines) {
  Reading r = read_trial(trial, {.only_last_step = true});
  if (!r.broke_off.empty()) return r;
  const Course course = course_of(trial, r, warmup, baselines);
  const auto progress = progress_of(trial, baselines);
  if (progress) {
    r.line = trained_line(*baselines);
    r.ahead = trend_of(trial.losses).ahead;
    r.left_plateau = progress->now > kRecovered;
  }
  const bool by_loss = trial.losses.size() >= kDecisive && progress;
  const bool by_signs = r.spread > kLaterSpread && r.gradient > kLeastGradient;
  const bool in_the_end = by_loss ? progress->now > 0 && progress->ahead > 1 : by_signs;
  const bool trains = course == Course::recovered || (course == Course::open && in_the_end);
  if (trains)
    r.sign = Sign::healthy;
  else if (course == Course::open && progress && r.last_loss > r.first_loss + kWorse)
    r.sign = Sign::rising;
  else if (course == Course::open && progress && (progress->now < 0 || progress->ahead > progress->now + kMoves) && by_signs)
    r.sign = Sign::slow;
  else if (r.trains())
    r.sign = r.spread > kLaterSpread ? Sign::stuck : Sign::alike;
  return r;
}

}  // namespace addnorm
