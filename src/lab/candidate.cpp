#include "lab/candidate.h"

#include <algorithm>
#include <cmath>

#include "lab/twin.h"

namespace addnorm {
namespace {

constexpr double kNearTheLine = 0.5;  // powers of ten

/// Runs one seed; false: somebody asked to stop.
bool run_seed(const TrialGround& ground, const RunOptions& options, const std::string& what, Tried& tried) {
  RunOptions own = options;
  own.seed = options.seed + tried.trials.size();
  const RunData data = ground.source.datasets(own);
  TrialRun run(own, own.seed, data.train);
  const auto advance = [&](std::size_t to) {
    std::size_t at = run.trial().losses.size();
    return run.advance(to, [&] {
      if (ground.observer) ground.observer->on_trial(what, at++, to);
      return ground.go_on();
    });
  };
  bool whole = advance(kTrialSteps);
  Reading reading = read_trial(run.trial());
  if (whole && ground.request.look_longer && reading.broke_off.empty() && std::abs(reading.margin) < kNearTheLine) {
    whole = advance(kLongTrialSteps);
    reading = read_trial(run.trial());
  }
  if (!whole) return false;
  tried.trials.push_back(run.trial());
  tried.readings.push_back(reading);
  return true;
}

}  // namespace

std::size_t Tried::passed() const {
  return static_cast<std::size_t>(std::ranges::count_if(readings, [](const Reading& r) { return r.trains(); }));
}

const Reading& Tried::typical() const {
  std::vector<const Reading*> agreeing;
  for (const Reading& r : readings)
    if (r.trains() == trains()) agreeing.push_back(&r);
  std::ranges::sort(agreeing, {}, [](const Reading* r) { return r->margin; });
  return *agreeing[agreeing.size() / 2];
}

Tried try_out(const TrialGround& ground, const RunOptions& options, std::size_t seeds, const std::string& what, bool settled) {
  Tried tried;
  RunOptions here = options;
  if (ground.step_flops > 0) {
    Twin twin = twin_within(options, ground.step_flops, ground.may_shorten);
    here = twin.options;
    tried.twin = twin.told;
  }
  while (tried.readings.size() < seeds) {
    if (!run_seed(ground, here, what, tried)) {
      tried.stopped = true;
      break;
    }
    const std::size_t done = tried.readings.size(), passed = tried.passed();
    if (settled && (2 * passed > seeds || 2 * (done - passed) > seeds)) break;
  }
  return tried;
}

}  // namespace addnorm
