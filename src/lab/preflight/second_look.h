// The second look of preflight: a run's own beginning, with its batch and its warm-up, where some twenty steps have not settled
// it.
#pragma once

#include "addnorm/lab/outcome.h"
#include "lab/preflight/rule.h"

namespace addnorm {

/// What is tried, and how far at most.
struct SecondLook {
  RunOptions options{};  ///< a narrower twin, if the model is too large
  std::size_t steps = 0;
  std::string twin{};  ///< Twin::summary
};
/// As many steps as so many operations allow, from kDecisive to kMostLater; a narrower twin where even kDecisive steps take more
/// than kOverBudget times that many. (A twin is the last resort: 12 layers of deepnorm at 2e-3 train with a width of 44 at twice
/// that rate, and not with 88.) A warm-up is shortened to two thirds of the steps, so that the full rate is seen.
SecondLook second_look_within(const RunOptions& options, double flops, bool may_shorten);
inline constexpr std::size_t kMostLater = kForecastSteps, kDecisive = 120;
inline constexpr double kOverBudget = 2;

/// With progress = (plateau - loss) / (plateau - trained_line), the loss as the mean of the last ten steps, and
/// ahead = progress at kForecastSteps, if it grows as it did over the last kTrend steps:
///
///   lost        spread < kLost and g < 1, from step 40 on: no run that trained was ever there
///   recovered   progress > kRecovered and ahead > kSurely, or progress > 1, from step 60 on and after the warm-up
enum class Course : unsigned char { open, recovered, lost };
inline constexpr double kLost = 1e-3;
inline constexpr double kRecovered = 0.27, kSurely = 2.5;
inline constexpr std::size_t kTrend = 30;
Course course_of(const Trial& trial, const Reading& reading, std::size_t warmup, const std::optional<Baselines>& baselines);

/// The verdict at its end: it trains where it has recovered. Where it is open, after kDecisive steps or more progress > 0 and
/// ahead > 1 decide;
/// earlier, or where losses are not compared (no baselines: a masked model), spread > kLaterSpread and g > kLeastGradient.
Reading read_second_look(const Trial& trial, std::size_t warmup, const std::optional<Baselines>& baselines);
inline constexpr double kLaterSpread = 0.05;

}  // namespace addnorm
