#include "lab/second_look.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lab/twin.h"

namespace addnorm {
namespace {

constexpr std::size_t kLossesSeen = 10, kLostFrom = 40, kRecoveredFrom = 60;

/// NaN: nothing is known of the data.
double progress(const Trial& trial, const std::optional<Baselines>& baselines) {
  if (!baselines || trial.losses.size() < kLossesSeen) return std::nan("");
  const double from = plateau(*baselines), line = trained_line(*baselines);
  const double loss = std::accumulate(trial.losses.end() - kLossesSeen, trial.losses.end(), 0.0) / kLossesSeen;
  return (from - loss) / (from - line);
}

}  // namespace

SecondLook second_look_within(const RunOptions& options, double flops, bool may_shorten) {
  SecondLook look{.options = twin_within(options, HUGE_VAL, may_shorten, kUsualTokens).options, .steps = kMostLater};
  if (const double fit = flops / step_flops(look.options); fit < static_cast<double>(kMostLater)) {
    look.steps = std::max(kDecisive, static_cast<std::size_t>(fit));
    const Twin twin = twin_within(options, flops / static_cast<double>(look.steps), may_shorten, kUsualTokens);
    look.options = twin.options;
    look.told = twin.told;
  }
  look.options.warmup_steps = std::min(look.options.warmup_steps.value_or(0), look.steps * 2 / 3);
  return look;
}

Course course_of(const Trial& trial, const Reading& reading, std::size_t warmup, const std::optional<Baselines>& baselines) {
  const std::size_t steps = trial.losses.size();
  if (!trial.broke_off.empty()) return Course::lost;
  if (steps >= kLostFrom && reading.spread < kLost && reading.gradient < 1) return Course::lost;
  const bool recovered = steps >= kRecoveredFrom && steps > warmup && progress(trial, baselines) > kRecovered;
  return recovered ? Course::recovered : Course::open;
}

Reading read_second_look(const Trial& trial, std::size_t warmup, const std::optional<Baselines>& baselines) {
  Reading r = read_trial(trial, {.only_last_step = true});
  if (!r.broke_off.empty()) return r;
  const Course course = course_of(trial, r, warmup, baselines);
  const bool by_loss = trial.losses.size() >= kDecisive && !std::isnan(progress(trial, baselines));
  const bool trains = course == Course::recovered || (course == Course::open && !by_loss && r.spread > kLaterSpread);
  if (trains)
    r.sign = Sign::healthy;
  else if (r.trains())
    r.sign = r.spread > kLaterSpread ? Sign::slow : Sign::alike;
  return r;
}

}  // namespace addnorm
