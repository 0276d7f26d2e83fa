#include "lab/preflight/candidate.h"

#include <algorithm>
#include <functional>

#include "lab/preflight/second_look.h"

namespace addnorm {
namespace {

constexpr double kFarOutside = 0.5;     // powers of ten
constexpr double kHopeless = 1;         // half-way through a trial
constexpr std::size_t kLookAgain = 10;  // steps of a second look

/// Whether a trial ends half-way where it looks hopeless.
enum class StopEarly : unsigned char { never, if_hopeless };

RuleContext context_of(const TrialGround& ground, const RunOptions& options) {
  RuleContext context{.optimizer = options.optimizer.kind};
  if (ground.baselines) context.plateau = plateau(*ground.baselines);
  return context;
}

/// Called at every step; answers whether to go on.
class Steps {
 public:
  Steps(const TrialGround& ground, std::string what, std::size_t of) : ground_(ground), what_(std::move(what)), of_(of) {}
  bool operator()() {
    if (ground_.observer) ground_.observer->on_trial(what_, at_++, of_);
    return ground_.go_on();
  }

 private:
  const TrialGround& ground_;
  std::string what_;
  std::size_t of_, at_ = 0;
};

/// Runs one seed; false: the observer asked to stop.
bool run_seed(const TrialGround& ground, const RunOptions& options, const std::string& what, StopEarly stop_early, Tried& tried) {
  RunOptions own = options;
  own.seed = options.seed + tried.trials.size();
  const RunData data = ground.source.datasets(own);
  const bool looked_at = stop_early == StopEarly::never, first = tried.trials.empty();
  const StartLook brief = first ? StartLook::skip_gain : StartLook::none;  // that of the first seed is reported
  TrialRun run(own, own.seed, data.train, !looked_at ? StartLook::none : ground.request.brief ? brief : StartLook::whole);
  Steps go_on(ground, what, kTrialSteps);
  const RuleContext context = context_of(ground, own);
  const auto reading = [&] { return read_trial(run.trial(), context); };
  if (stop_early == StopEarly::if_hopeless && !run.advance(kTrialSteps / 2, std::ref(go_on))) return false;
  if (stop_early == StopEarly::never || reading().margin >= -kHopeless)
    if (!run.advance(kTrialSteps, std::ref(go_on))) return false;
  tried.trials.push_back(run.trial());
  tried.readings.push_back(reading());
  tried.standings.push_back(standing_of(tried.readings.back(), context));
  return true;
}

/// The rest of the seeds could not change what the first look says.
bool first_look_settles(const Tried& t, std::size_t seeds) {
  return 2 * t.count(Standing::passes) > seeds || 2 * t.count(Standing::fails) > seeds || 2 * t.count(Standing::open) > seeds;
}

/// Until `enough` says so, or all seeds are done.
Tried first_look(const TrialGround& ground, const RunOptions& options, const std::string& what, StopEarly stop_early,
                 const std::function<bool(const Tried&)>& enough) {
  Tried tried;
  const std::size_t seeds = ground.request.seeds;
  const Twin twin = twin_within(options, ground.flops / static_cast<double>(kTrialSteps * seeds), ground.may_shorten);
  tried.twin = twin.summary;
  while (tried.readings.size() < seeds && !tried.stopped && !enough(tried))
    tried.stopped = !run_seed(ground, twin.options, what, stop_early, tried);
  return tried;
}

void take_second_look(const TrialGround& ground, const RunOptions& options, const std::string& what, Tried& tried) {
  const SecondLook look = second_look_within(options, ground.flops, ground.may_shorten);
  const std::size_t warmup = look.options.warmup_steps.value_or(0);
  const RunData data = ground.source.datasets(look.options);
  TrialRun run(look.options, look.options.seed, data.train, StartLook::none, Pace::real);
  Steps go_on(ground, what + ", a second look", look.steps);
  for (std::size_t done = 0; done < look.steps && !tried.stopped;) {
    done = std::min(done + kLookAgain, look.steps);
    tried.stopped = !run.advance(done, std::ref(go_on));
    const Reading now = read_trial(run.trial(), {.only_last_step = true});
    if (course_of(run.trial(), now, warmup, ground.baselines) != Course::open) break;
  }
  if (tried.stopped) return;
  tried.twin = look.twin;
  tried.second = run.trial();
  tried.second_reading = read_second_look(run.trial(), warmup, ground.baselines);
}

}  // namespace

std::size_t Tried::count(Standing standing) const { return static_cast<std::size_t>(std::ranges::count(standings, standing)); }

std::size_t Tried::passed() const {
  return static_cast<std::size_t>(std::ranges::count_if(readings, [](const Reading& r) { return r.trains(); }));
}

bool Tried::trains() const {
  if (second_reading) return second_reading->trains();
  return !readings.empty() && 2 * count(Standing::passes) > readings.size();
}

bool Tried::clear() const { return !second_reading && !standings.empty() && count(standings[0]) == standings.size(); }

std::size_t Tried::typical_first_look() const {
  std::vector<std::size_t> agreeing;
  for (std::size_t i = 0; i < readings.size(); ++i)
    if (readings[i].trains() == trains()) agreeing.push_back(i);
  if (agreeing.empty()) return 0;
  std::ranges::stable_sort(agreeing, {}, [&](std::size_t i) { return readings[i].margin; });
  return agreeing[agreeing.size() / 2];
}

Tried try_out(const TrialGround& ground, const RunOptions& options, const std::string& what) {
  const std::size_t seeds = ground.request.seeds;
  Tried tried = first_look(ground, options, what, StopEarly::never,
                           [&](const Tried& t) { return ground.request.brief && first_look_settles(t, seeds); });
  const bool settled = 2 * tried.count(Standing::passes) > seeds || 2 * tried.count(Standing::fails) > seeds;
  if (!settled && !tried.stopped) take_second_look(ground, options, what, tried);
  return tried;
}

ChangeResult try_change(const TrialGround& ground, const RunOptions& options, const std::string& what, IfSlow if_slow) {
  const std::size_t seeds = ground.request.seeds;
  const bool first_look_decides = options.optimizer.kind != OptimizerKind::sgd;
  Tried tried;
  if (first_look_decides)
    tried = first_look(ground, options, what, StopEarly::if_hopeless, [seeds](const Tried& t) {
      const bool hopeless = !t.readings.empty() && t.readings[0].margin < -kFarOutside;
      return hopeless || first_look_settles(t, seeds);
    });
  if (tried.stopped) return ChangeResult::fails;
  if (2 * tried.count(Standing::passes) > seeds) return ChangeResult::passes;
  const auto only_slow = static_cast<std::size_t>(std::ranges::count_if(tried.readings, is_clear));
  if (first_look_decides && 2 * only_slow <= tried.readings.size()) return ChangeResult::fails;
  if (first_look_decides && if_slow == IfSlow::leave_it) return ChangeResult::slow;
  take_second_look(ground, options, what, tried);
  if (tried.stopped || !tried.second_reading) return ChangeResult::fails;
  if (tried.second_reading->trains()) return ChangeResult::passes;
  return tried.second_reading->sign == Sign::slow ? ChangeResult::slow : ChangeResult::fails;
}

}  // namespace addnorm
