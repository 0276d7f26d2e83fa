#include "addnorm/lab/outcome.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "addnorm/core/error.h"
#include "core/figures.h"
#include "tensor/numbers.h"

namespace addnorm {
namespace {

constexpr double kTrainedShare = 0.75;  // of the way from unigram to bigram
constexpr double kHalfWay = 0.5;        // to the floor, where no bigram is known
constexpr double kLeftThePlateau = 0.1;
constexpr double kMoreThanChance = 6;  // deviations: the lowest of some hundred windows and any other are up to five apart

/// The mean over the window that ends with loss number `end` - 1.
double window_before(std::span<const double> losses, std::size_t end) {
  const std::size_t begin = end - std::min(end, kOutcomeWindow);
  return mean_of(losses.subspan(begin, end - begin));
}

/// Deviation of a window's mean, by the noise of single losses; 0 of fewer than two.
double window_noise(std::span<const double> losses) {
  constexpr double kMedianOfNormal = 0.6745;  // of |x|, in deviations
  std::vector<double> jumps;
  for (std::size_t i = 0; i + 1 < losses.size(); ++i)
    if (const double jump = std::abs(losses[i + 1] - losses[i]); std::isfinite(jump)) jumps.push_back(jump);
  if (jumps.empty()) return 0;
  const auto middle = jumps.begin() + static_cast<std::ptrdiff_t>(jumps.size() / 2);
  std::ranges::nth_element(jumps, middle);
  return *middle / (kMedianOfNormal * std::sqrt(2.0)) / std::sqrt(static_cast<double>(kOutcomeWindow));
}

}  // namespace

const char* name_of(Outcome outcome) {
  constexpr const char* kNames[] = {"trained", "slow", "stuck", "diverged", "too short to tell"};
  return kNames[static_cast<std::size_t>(outcome)];
}

double plateau(const Baselines& b) { return std::isnan(b.unigram) ? b.uniform : b.unigram; }

double trained_line(const Baselines& b) {
  const double from = plateau(b);
  if (!std::isnan(b.bigram)) return from - kTrainedShare * (from - b.bigram);
  const double floor = std::isnan(b.floor) ? 0 : b.floor;
  return from - kHalfWay * (from - floor);
}

double steps_at_full_rate(std::size_t steps, std::size_t warmup) {
  const auto n = static_cast<double>(steps), w = static_cast<double>(warmup);
  return steps >= warmup ? n - w / 2 : n * n / (2 * w);
}

Judged judge(std::span<const double> losses, const Baselines& b, bool broke_off, std::size_t warmup) {
  const double line = trained_line(b), from = plateau(b);
  require(!std::isnan(from), "judge: the baselines have neither unigram nor uniform, so there is no line; label_baselines() ",
          "counts those of a dataset");
  Judged judged{.loss = window_before(losses, losses.size()), .best = std::numeric_limits<double>::infinity()};
  judged.broke_off = broke_off;
  const std::size_t first_end = std::max<std::size_t>(1, std::min(kOutcomeWindow, losses.size()));
  std::vector<double> means;  // of the windows that end with loss first_end, first_end + 1, ...
  for (std::size_t end = first_end; end <= losses.size(); ++end) {
    means.push_back(window_before(losses, end));
    judged.best = std::min(judged.best, means.back());
  }
  const bool above = !(judged.loss < line);
  const double as_good = judged.best + kMoreThanChance * window_noise(losses);
  if (broke_off || !std::isfinite(judged.loss) || (above && judged.best < line && judged.loss > as_good)) {
    judged.outcome = Outcome::diverged;
    std::size_t last_good = losses.size();  // how many losses there were when it was as good as ever for the last time
    if (!broke_off && judged.best < line)
      while (last_good > first_end && !(means[last_good - first_end] <= as_good)) --last_good;
    judged.diverged_at = static_cast<std::int64_t>(last_good + 1);
    return judged;
  }
  if (!above) {
    judged.outcome = Outcome::trained;
    return judged;
  }
  if (steps_at_full_rate(losses.size(), warmup) < kStepsToTell) {
    judged.outcome = Outcome::too_short;
    return judged;
  }
  const bool left = judged.loss < from - kLeftThePlateau * (from - line);
  const bool falls = losses.size() > kOutcomeWindow && judged.loss < window_before(losses, losses.size() - kOutcomeWindow);
  judged.outcome = left && falls ? Outcome::slow : Outcome::stuck;
  return judged;
}

std::string Judged::text() const {
  if (outcome != Outcome::diverged) return concat(name_of(outcome), ", ", loss_figure(loss));
  return concat("diverged at step ", diverged_at, std::isfinite(best) ? concat(" (", loss_figure(best), " before)") : "");
}

}  // namespace addnorm
