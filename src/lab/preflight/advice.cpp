#include "lab/preflight/advice.h"

#include <algorithm>
#include <functional>
#include <span>

#include "addnorm/core/error.h"
#include "addnorm/lab/grid_result.h"
#include "addnorm/residual/catalogue.h"
#include "core/figures.h"

namespace addnorm {
namespace {

constexpr std::size_t kWarmups[] = {50, 100, 150, 200};           // longer ones hardly begin within a trial
constexpr double kSlower[] = {0.4, 0.2, 0.1, 0.05, 0.01, 0.001};  // times the asked rate
constexpr double kFaster[] = {3, 10, 30, 100, 300, 1000};
constexpr double kLeastRate = 1e-5;  // where a search for a larger rate than nothing begins

/// Another arrangement, and what it changes against a post-norm, at equal weights.
struct OtherArrangement {
  const char *name, *change;
};
constexpr OtherArrangement kScales[] = {{"deepnorm", "a larger weight of the skip, smaller matrices"},
                                        {"admin", "a weight of the skip, measured before training"}};
constexpr OtherArrangement kOthers[] = {{"pre-ln", "the norm inside the branch"},
                                        {"rezero", "no norm, branches that start at nothing"}};

/// The first of `count` changes, from the smallest to the largest, that passes; larger ones are taken to pass then too. The
/// largest comes first: where that does not help, none does.
std::optional<std::size_t> first_passing(const TrialGround& ground, std::size_t count,
                                         const std::function<bool(std::size_t)>& passes) {
  if (count == 0 || !passes(count - 1)) return std::nullopt;
  if (ground.request.brief) return count - 1;  // only whether there is one
  std::size_t low = 0, high = count - 1;       // `high` passes
  while (low < high && ground.go_on()) {
    const std::size_t middle = (low + high) / 2;
    if (passes(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return high;
}

/// Whether what was asked of the start has a meaning there: init_std has none where deviations follow from the widths.
bool can_start(const ModelConfig& model) {
  try {
    with_init(arrangement_of(model), model.init);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

/// The rule by which the run starts now, where the other arrangement would start by another of its source's: its name for init.
/// "" where nothing has to be held, and where it cannot be, because what starts so is part of either formula.
std::string rule_to_hold(const ModelConfig& from, const ModelConfig& to) {
  if (!from.init.by_arrangement() || arrangement_of(to).gains_in_formula) return "";
  const std::string rule = start_text(from).rule;
  return rule == start_text(to).rule ? "" : rule;
}

void first_arrangement(const TrialGround& ground, const RunOptions& options, std::span<const OtherArrangement> all,
                       std::vector<Advice>& found) {
  for (const OtherArrangement& one : all) {
    if (!ground.go_on()) return;
    if (options.model.arrangement == one.name) continue;
    RunOptions other = options;
    other.model.arrangement = one.name;
    other.model.own_arrangement.reset();
    other.model.choices = {};
    other.model.final_norm.reset();
    if (!can_start(other.model)) continue;
    std::string option = concat(called(options.words, "arrangement"), " ", one.name);
    if (const std::string rule = rule_to_hold(options.model, other.model); !rule.empty()) {
      other.model.init.rule = rule;
      option += concat(" ", called(options.words, "init"), " ", rule);
    }
    if (passes(ground, other, option)) return add_advice(ground, found, {option, "trains", one.change, other});
  }
}

}  // namespace

void add_advice(const TrialGround& ground, std::vector<Advice>& found, Advice advice) {
  found.push_back(std::move(advice));
  if (ground.observer) ground.observer->on_advice(found.back());
}

std::string rate_option(const RunOptions& options) { return concat(called(options.words, "lr"), " ", rate_figure(options.lr)); }

std::string warmup_option(const RunOptions& options) {
  return concat(called(options.words, "warmup_steps"), " ", options.warmup_steps.value_or(0));
}

RunOptions with_warmup(RunOptions options, std::size_t steps) {
  options.warmup_steps = steps;
  return options;
}

RunOptions with_rate(RunOptions options, double rate) {
  options.min_lr = options.lr > 0 ? options.min_lr.value_or(0) * rate / options.lr : 0;
  options.lr = rate;
  return options;
}

std::vector<std::size_t> longer_warmups(const RunOptions& options) {
  std::vector<std::size_t> all;
  for (const std::size_t steps : kWarmups)
    if (steps > options.warmup_steps.value_or(0) && steps <= options.steps) all.push_back(steps);
  return all;
}

std::optional<std::size_t> passing_warmup(const TrialGround& ground, const RunOptions& options) {
  const std::vector<std::size_t> all = longer_warmups(options);
  const auto what = [&](std::size_t i) { return warmup_option(with_warmup(options, all[i])); };
  const auto found = first_passing(ground, all.size(), [&](std::size_t i) {
    const RunOptions longer = with_warmup(options, all[i]);
    return i + 1 < all.size() ? is_healthy(ground, longer, what(i)) : try_out(ground, longer, what(i)).trains();
  });
  if (!found) return std::nullopt;
  const bool confirmed = *found + 1 == all.size() || passes(ground, with_warmup(options, all[*found]), what(*found));
  return confirmed ? all[*found] : all.back();
}

Advice warmup_advice(const RunOptions& options, std::size_t steps) {
  const RunOptions longer = with_warmup(options, steps);
  return {warmup_option(longer), "trains", "a longer warm-up", longer};
}

void faster_advice(const TrialGround& ground, const RunOptions& options, std::vector<Advice>& found) {
  const auto add = [&](const RunOptions& other) {
    add_advice(ground, found, {rate_option(other), "trains", "a larger rate", other});
  };
  std::optional<RunOptions> largest_healthy;
  for (const double times : kFaster) {
    const RunOptions other = with_rate(options, std::max(options.lr, kLeastRate) * times);
    const ChangeResult result =
        ground.go_on() ? try_change(ground, other, rate_option(other), IfSlow::leave_it) : ChangeResult::fails;
    if (result == ChangeResult::passes) return add(other);
    if (result == ChangeResult::fails) break;
    largest_healthy = other;
  }
  if (largest_healthy && passes(ground, *largest_healthy, rate_option(*largest_healthy))) add(*largest_healthy);
}

void start_advice(const TrialGround& ground, const RunOptions& options, std::vector<Advice>& found) {
  for (const OtherStart& start : other_starts(options.model, options.words)) {
    if (!ground.go_on()) return;
    RunOptions other = options;
    other.model.init = start.init;
    if (passes(ground, other, start.option)) return add_advice(ground, found, {start.option, "trains", start.change, other});
  }
}

void other_advice(const TrialGround& ground, const RunOptions& options, std::vector<Advice>& found) {
  start_advice(ground, options, found);
  for (const double times : kSlower) {  // not by bisection: too small a rate does not pass either
    const RunOptions other = with_rate(options, options.lr * times);
    const ChangeResult result = ground.go_on() ? try_change(ground, other, rate_option(other)) : ChangeResult::slow;
    if (result == ChangeResult::passes) add_advice(ground, found, {rate_option(other), "trains", "a smaller rate", other});
    if (result != ChangeResult::fails) break;
  }
  first_arrangement(ground, options, kScales, found);
  first_arrangement(ground, options, kOthers, found);
}

}  // namespace addnorm
