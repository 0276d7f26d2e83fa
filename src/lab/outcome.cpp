#include "addnorm/lab/outcome.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

constexpr double kTrainedShare = 0.75;  // of the way from unigram to bigram
constexpr double kHalfWay = 0.5;        // to the floor, where no bigram is known
constexpr double kLeftThePlateau = 0.1;
const double kUnknown = std::numeric_limits<double>::quiet_NaN();

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? kUnknown : sum / static_cast<double>(values.size());
}

/// The mean over the window that ends with loss number `end` - 1.
double window_before(std::span<const double> losses, std::size_t end) {
  const std::size_t begin = end - std::min(end, kOutcomeWindow);
  return mean_of(losses.subspan(begin, end - begin));
}

/// Data of which nothing is known: a model that learned nothing stays where it began.
Baselines known(Baselines b, std::span<const double> losses) {
  if (std::isnan(plateau(b)) && !losses.empty()) b.unigram = losses[0];
  return b;
}

std::string two_places(double x) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(2) << x;
  return out.str();
}

}  // namespace

const char* name_of(Outcome outcome) {
  constexpr const char* kNames[] = {"trained", "slow", "stuck", "diverged"};
  return kNames[static_cast<std::size_t>(outcome)];
}

double plateau(const Baselines& b) { return std::isnan(b.unigram) ? b.uniform : b.unigram; }

double trained_line(const Baselines& b) {
  const double from = plateau(b);
  if (!std::isnan(b.bigram)) return from - kTrainedShare * (from - b.bigram);
  const double floor = std::isnan(b.floor) ? 0 : b.floor;
  return from - kHalfWay * (from - floor);
}

Judged judge(std::span<const double> losses, const Baselines& baselines, bool broke_off) {
  const Baselines b = known(baselines, losses);
  const double line = trained_line(b), from = plateau(b);
  Judged judged{.loss = window_before(losses, losses.size()), .best = std::numeric_limits<double>::infinity()};
  std::size_t last_good = 0;  // how many losses there were when the mean was below the line for the last time
  for (std::size_t end = std::min(kOutcomeWindow, losses.size()); end >= 1 && end <= losses.size(); ++end) {
    const double mean = window_before(losses, end);
    judged.best = std::min(judged.best, mean);
    if (mean < line) last_good = end;
  }
  const bool above = !(judged.loss < line);
  if (broke_off || (above && last_good > 0) || !std::isfinite(judged.loss)) {
    judged.outcome = Outcome::diverged;
    judged.diverged_at = static_cast<std::int64_t>((broke_off || last_good == 0 ? losses.size() : last_good) + 1);
    return judged;
  }
  if (!above) {
    judged.outcome = Outcome::trained;
    return judged;
  }
  const bool left = judged.loss < from - kLeftThePlateau * (from - line);
  const bool falls = losses.size() > kOutcomeWindow && judged.loss < window_before(losses, losses.size() - kOutcomeWindow);
  judged.outcome = left && falls ? Outcome::slow : Outcome::stuck;
  return judged;
}

std::string Judged::text() const {
  if (outcome != Outcome::diverged) return concat(name_of(outcome), ", ", two_places(loss));
  return concat("diverged at step ", diverged_at, std::isfinite(best) ? concat(" (", two_places(best), " before)") : "");
}

}  // namespace addnorm
