#include "addnorm/lab/preflight.h"

#include <chrono>
#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/core/machine.h"
#include "addnorm/model/stack.h"
#include "addnorm/residual/explain.h"
#include "addnorm/train/memory.h"
#include "core/figures.h"
#include "lab/preflight/advice.h"
#include "lab/preflight/candidate.h"
#include "lab/preflight/rule.h"

namespace addnorm {
namespace {

/// Of one thread, in products of this size. It only decides what is made narrower, and must not depend on the machine: the same
/// model gets the same twin everywhere.
constexpr double kFlopsPerSecond = 3.5e10;
constexpr double kMostOfTheTime = 10;  // times the seconds that were asked for; a longer one is refused

using Clock = std::chrono::steady_clock;

void describe_arrangement(PreflightResult& result) {
  const ModelConfig& config = result.options.model;
  const StackShape shape = first_stack_shape(config);
  const Arrangement row = with_options(arrangement_of(config), residual_options(config));
  result.formula = units_text(formula_of(row, shape, norm_of(config)));
  if (const auto gain = skip_gain(row, shape, NormalInit::with_its_gains)) result.skip_gain_predicted = gain->gain;
}

void judge_by(const Tried& tried, PreflightResult& result) {
  result.trials = tried.trials;
  result.second_look = tried.second;
  result.twin = tried.twin;
  result.passed = tried.passed();
  result.stopped = tried.stopped;
  if (tried.readings.empty()) return;
  result.forecast = tried.trains() ? Forecast::trains : Forecast::will_not_train;
  const Reading& typical = tried.typical();
  result.reason = typical.text();
  result.typical = tried.typical_first_look();
  result.clear = tried.clear();
  result.stack = typical.stack_index;
  if (result.skip_gain_predicted) result.skip_gain_measured = tried.trials[0].skip_gain;
}

/// Depth is never made smaller, so that a stack may be too deep even for the narrowest twin: refused before anything is
/// allocated.
void require_possible(const TrialGround& ground, const RunOptions& options) {
  const double looks = static_cast<double>(kTrialSteps * ground.request.seeds);
  const RunOptions twin = twin_within(options, ground.flops / looks, ground.may_shorten).options;
  const double seconds = step_flops(twin) * looks / kFlopsPerSecond;
  const double enough = std::ceil(seconds / kMostOfTheTime);
  require(seconds <= kMostOfTheTime * ground.request.seconds, "a trial of ", options.model.layers, " layers takes about ",
          short_figure(seconds), " seconds even with d_model ", twin.model.d_model, "; try fewer ",
          called(options.words, "layers"),
          enough <= kMostSeconds ? concat(", or allow it with ", called(options.words, "seconds"), " ", enough) : "");
  require_fits(estimate_memory(twin.model, {.optimizer = twin.optimizer.kind, .batch_size = twin.batch_size}), available_memory(),
               options.words);
}

/// A trial does not show it: gradients and tokens of such stacks look healthy now and then.
bool is_too_deep_without_skip(const ModelConfig& config) {
  const Arrangement& row = arrangement_of(config);
  return row.is_row() && row.unit.skip == Skip::none && row.overrides.empty() && config.layers >= kTooDeepWithoutSkip;
}

/// With which its losses are compared. A masked model stays at its plateau for many hundred steps even where all is well: its
/// gradients and tokens decide.
std::optional<Baselines> baselines_to_reach(const PreparedRun& p) {
  return p.options.model.model == ModelKind::encoder ? std::nullopt : p.data.baselines;
}

}  // namespace

PreparedRun prepared(const PreflightRequest& request, PreflightObserver* observer) {
  require(request.seeds >= 1, "preflight: seeds is 0; it must be at least 1");
  require_used(request.given);
  return prepared_run(request.given, request.given.options, request.cache,
                      [&](double) { return !observer || observer->go_on(); });
}

TrialGround ground_of(const PreparedRun& p, const PreflightRequest& request, PreflightObserver* observer) {
  const bool text = p.options.model.model == ModelKind::lm || p.options.model.model == ModelKind::encoder;
  const TrialGround ground{.source = *p.source,
                           .request = request,
                           .observer = observer,
                           .flops = request.seconds * kFlopsPerSecond,
                           .may_shorten = text && !p.data.pairs,
                           .baselines = baselines_to_reach(p)};
  require_possible(ground, p.options);
  return ground;
}

const char* name_of(Forecast forecast) {
  constexpr const char* kNames[] = {"trains", "needs warm-up", "will not train"};
  return kNames[static_cast<std::size_t>(forecast)];
}

PreflightResult preflight(const PreflightRequest& request, PreflightObserver* observer) {
  const auto begin = Clock::now();
  PreflightResult result;
  const PreparedRun p = prepared(request, observer);
  result.stopped = !p.source;
  if (!p.source) return result;
  result.options = p.options;
  result.baselines = p.data.baselines;
  result.beyond = beyond_measured(p.options);
  result.notes = init_notes(p.options.model);
  const TrialGround ground = ground_of(p, request, observer);  // first what is refused, then what goes over all units
  describe_arrangement(result);
  const Tried tried = try_out(ground, p.options, "as asked");
  judge_by(tried, result);
  const bool too_deep = is_too_deep_without_skip(p.options.model);
  if (too_deep && result.forecast == Forecast::trains) {
    result.forecast = Forecast::will_not_train;
    result.reason =
        concat("there is no skip, and no stack of ", kTooDeepWithoutSkip, " layers or more has trained without; ", result.reason);
  }
  const bool fails = result.forecast != Forecast::trains && !result.stopped;
  const bool too_slow = fails && tried.typical().sign == Sign::slow;  // a warm-up would make it slower
  const auto warmup = fails && !too_deep && !too_slow ? passing_warmup(ground, p.options) : std::nullopt;
  if (warmup) result.forecast = Forecast::needs_warmup;
  result.confidence = measured_confidence(result.forecast);
  if (observer && ground.go_on()) observer->on_verdict(result);
  if (warmup) add_advice(ground, result.advice, warmup_advice(p.options, *warmup));
  if (fails && request.advice) (too_slow ? faster_advice : other_advice)(ground, p.options, result.advice);
  result.stopped = result.stopped || !ground.go_on();
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

}  // namespace addnorm
