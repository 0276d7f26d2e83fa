#include "lab/candidate.h"

#include <algorithm>
#include <functional>

#include "lab/twin.h"

namespace addnorm {
namespace {

constexpr double kFarOutside = 0.5;     // powers of ten
constexpr double kHopeless = 1;         // half-way through a trial
constexpr std::size_t kLookAgain = 10;  // steps of a trial that is lengthened

enum class Patience : unsigned char { whole_trial, while_there_is_hope };

/// Runs one seed; false: somebody asked to stop.
bool run_seed(const TrialGround& ground, const RunOptions& options, const std::string& what, Patience patience, Tried& tried) {
  RunOptions own = options;
  own.seed = options.seed + tried.trials.size();
  const RunData data = ground.source.datasets(own);
  const bool looked_at = patience == Patience::whole_trial && !ground.request.brief;
  TrialRun run(own, own.seed, data.train, looked_at ? StartLook::whole : StartLook::none);
  std::size_t at = 0, steps = kTrialSteps;
  const auto go_on = [&] {
    if (ground.observer) ground.observer->on_trial(what, at++, steps);
    return ground.go_on();
  };
  const auto reading = [&] { return read_trial(run.trial(), own.optimizer.kind); };
  if (patience == Patience::while_there_is_hope && !run.advance(kTrialSteps / 2, go_on)) return false;
  if (patience == Patience::whole_trial || reading().margin >= -kHopeless)
    if (!run.advance(kTrialSteps, go_on)) return false;
  if (run.trial().losses.size() == kTrialSteps && is_open(reading(), trial_options(own, own.seed))) {
    steps = kLongTrialSteps;
    for (std::size_t next = kTrialSteps; next < steps && reading().spread < kRecoveredSpread; next += kLookAgain)
      if (!run.advance(next + kLookAgain, go_on)) return false;
  }
  tried.trials.push_back(run.trial());
  tried.readings.push_back(reading());
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

namespace {

/// The rest of the seeds could not change the verdict.
bool is_settled(const Tried& t, std::size_t seeds) {
  return 2 * t.passed() > seeds || 2 * (t.readings.size() - t.passed()) > seeds;
}

/// Until `enough` says so, or all seeds are done.
Tried try_until(const TrialGround& ground, const RunOptions& options, const std::string& what, Patience patience,
                const std::function<bool(const Tried&)>& enough) {
  Tried tried;
  const Twin twin = twin_within(options, ground.step_flops, ground.may_shorten);
  tried.twin = twin.told;
  while (tried.readings.size() < ground.request.seeds && !tried.stopped && !enough(tried))
    tried.stopped = !run_seed(ground, twin.options, what, patience, tried);
  return tried;
}

}  // namespace

Tried try_out(const TrialGround& ground, const RunOptions& options, const std::string& what) {
  const std::size_t seeds = ground.request.seeds;
  return try_until(ground, options, what, Patience::whole_trial,
                   [&](const Tried& t) { return ground.request.brief && is_settled(t, seeds); });
}

bool passes(const TrialGround& ground, const RunOptions& options, const std::string& what) {
  const std::size_t seeds = ground.request.seeds;
  const Tried tried = try_until(ground, options, what, Patience::while_there_is_hope, [seeds](const Tried& t) {
    const bool hopeless = !t.readings.empty() && t.readings[0].margin < -kFarOutside;
    return hopeless || is_settled(t, seeds);
  });
  return !tried.stopped && 2 * tried.passed() > seeds;
}

}  // namespace addnorm
