// The largest rate and the shortest warm-up that pass a trial, by bisection.
#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"
#include "core/figures.h"
#include "lab/preflight/advice.h"
#include "lab/preflight/candidate.h"

namespace addnorm {
namespace {

constexpr double kWidest = 100;  // times the asked rate, up and down
constexpr double kCloseRate = 1.25, kCloseWarmup = 1.25;
constexpr std::size_t kFirstWarmup = 10;
constexpr int kConfirmations = 4;  // what a first look lets through is confirmed, else the next smaller one

}  // namespace

std::optional<RateFound> largest_rate(const PreflightRequest& request, PreflightObserver* observer) {
  const PreparedRun p = prepared(request, observer);
  if (!p.source) return std::nullopt;
  const TrialGround ground = ground_of(p, request, observer);
  const auto with = [&](double rate) { return with_rate(p.options, rate); };
  const auto what = [&](double rate) { return rate_option(with(rate)); };
  const auto healthy = [&](double rate) { return is_healthy(ground, with(rate), what(rate)); };
  require(p.options.lr > 0, called(p.options.words, "lr"), " is 0; ", called(p.options.words, "largest_rate"),
          " needs a rate to begin with");
  double good = 0, bad = 0;
  if (healthy(p.options.lr)) {
    const double most = kWidest * p.options.lr;
    for (good = p.options.lr; bad == 0 && good < most && ground.go_on();) {
      const double next = std::min(2 * good, most);
      (healthy(next) ? good : bad) = next;
    }
  } else {
    for (bad = p.options.lr; good == 0 && bad > p.options.lr / kWidest && ground.go_on();)
      (healthy(bad / 2) ? good : bad) = bad / 2;
  }
  while (good > 0 && bad > 0 && bad / good > kCloseRate && ground.go_on()) {
    const double middle = std::sqrt(good * bad);
    (healthy(middle) ? good : bad) = middle;
  }
  for (int tries = 0; good > 0 && ground.go_on() && tries < kConfirmations; ++tries) {
    if (passes(ground, with(good), what(good))) return RateFound{.rate = good, .larger_fails = bad > 0};
    bad = good;
    good /= kCloseRate;
  }
  return std::nullopt;
}

std::optional<std::size_t> shortest_warmup(const PreflightRequest& request, PreflightObserver* observer) {
  const PreparedRun p = prepared(request, observer);
  if (!p.source) return std::nullopt;
  const TrialGround ground = ground_of(p, request, observer);
  const auto with = [&](std::size_t steps) { return with_warmup(p.options, steps); };
  const auto what = [&](std::size_t steps) { return warmup_option(with(steps)); };
  const auto healthy = [&](std::size_t steps) { return is_healthy(ground, with(steps), what(steps)); };
  if (try_out(ground, with(0), what(0)).trains()) return 0;  // as the verdict would have it
  std::size_t bad = 0, good = 0;
  for (std::size_t steps = kFirstWarmup; good == 0 && bad < p.options.steps && ground.go_on(); steps *= 2) {
    const std::size_t now = std::min(steps, p.options.steps);
    (healthy(now) ? good : bad) = now;
  }
  while (good > bad + 1 && static_cast<double>(good) > kCloseWarmup * static_cast<double>(std::max<std::size_t>(bad, 1)) &&
         ground.go_on()) {
    const std::size_t middle = (good + bad) / 2;
    (healthy(middle) ? good : bad) = middle;
  }
  for (int tries = 0; good > 0 && good <= p.options.steps && ground.go_on() && tries < kConfirmations; ++tries) {
    if (passes(ground, with(good), what(good))) return good;
    good = static_cast<std::size_t>(std::ceil(kCloseWarmup * static_cast<double>(good)));
  }
  return std::nullopt;
}

}  // namespace addnorm
