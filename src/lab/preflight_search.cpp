// The largest rate and the shortest warm-up that pass a trial, by bisection.
#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"
#include "lab/advice.h"
#include "lab/prepared.h"

namespace addnorm {
namespace {

constexpr double kWidest = 100;  // times the asked rate, up and down
constexpr double kCloseRate = 1.25, kCloseWarmup = 1.25;
constexpr std::size_t kFirstWarmup = 10;

}  // namespace

std::optional<RateFound> largest_rate(const PreflightRequest& request, PreflightObserver* observer) {
  const Prepared p = prepared(request, observer);
  if (!p.source) return std::nullopt;
  const TrialGround ground = ground_of(p, request, observer);
  const auto passes = [&](double rate) {
    return addnorm::passes(ground, with_rate(p.options, rate), concat("--lr ", rate_figure(rate)));
  };
  require(p.options.lr > 0, "--lr is 0; --max-lr needs a rate to begin with");
  double good = 0, bad = 0;
  if (passes(p.options.lr)) {
    const double most = kWidest * p.options.lr;
    for (good = p.options.lr; bad == 0 && good < most && ground.go_on();) {
      const double next = std::min(2 * good, most);
      (passes(next) ? good : bad) = next;
    }
  } else {
    for (bad = p.options.lr; good == 0 && bad > p.options.lr / kWidest && ground.go_on();)
      (passes(bad / 2) ? good : bad) = bad / 2;
  }
  while (good > 0 && bad > 0 && bad / good > kCloseRate && ground.go_on()) {
    const double middle = std::sqrt(good * bad);
    (passes(middle) ? good : bad) = middle;
  }
  if (!(good > 0) || !ground.go_on()) return std::nullopt;
  return RateFound{.rate = good, .larger_fails = bad > 0};
}

std::optional<std::size_t> shortest_warmup(const PreflightRequest& request, PreflightObserver* observer) {
  const Prepared p = prepared(request, observer);
  if (!p.source) return std::nullopt;
  const TrialGround ground = ground_of(p, request, observer);
  const auto passes = [&](std::size_t steps) {
    return addnorm::passes(ground, with_warmup(p.options, steps), concat("--warmup-steps ", steps));
  };
  if (passes(0)) return 0;
  std::size_t bad = 0, good = 0;
  for (std::size_t steps = kFirstWarmup; good == 0 && bad < p.options.steps && ground.go_on(); steps *= 2) {
    const std::size_t now = std::min(steps, p.options.steps);
    (passes(now) ? good : bad) = now;
  }
  while (good > bad + 1 && static_cast<double>(good) > kCloseWarmup * static_cast<double>(std::max<std::size_t>(bad, 1)) &&
         ground.go_on()) {
    const std::size_t middle = (good + bad) / 2;
    (passes(middle) ? good : bad) = middle;
  }
  return good > 0 && ground.go_on() ? std::optional(good) : std::nullopt;
}

}  // namespace addnorm
