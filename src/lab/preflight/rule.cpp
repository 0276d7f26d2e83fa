#include "lab/preflight/rule.h"

#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"
#include "core/figures.h"

namespace addnorm {
namespace {

constexpr std::size_t kLossesCompared = 5;
constexpr double kHardlyAnything = 0.02;  // nats

double mean_of_last(const std::vector<double>& values, std::size_t end) {
  const std::size_t count = std::min(end, kLossesCompared);
  double sum = 0;
  for (std::size_t i = end - count; i < end; ++i) sum += values[i];
  return count ? sum / static_cast<double>(count) : 0;
}

double ratio_of(const StackRecord& stack) {
  const double top = stack.gradient_norm.back();
  return top > 0 ? stack.gradient_norm.front() / top : 0;
}

/// Powers of ten by which `above` is larger than `below`.
double powers_between(double above, double below) { return std::log10(std::max(above, 1e-30) / std::max(below, 1e-30)); }

Reading read_stack(const Trial& trial, std::size_t which, const RuleContext& context) {
  const StackRecord& last = trial.after().stacks[which];
  Reading r{.units = last.units.size(), .stack_index = which, .stack = last.name};
  r.gradient = r.least_gradient = ratio_of(last);
  if (!context.only_last_step)
    for (const ProbeRecord& record : trial.records) r.least_gradient = std::min(r.least_gradient, ratio_of(record.stacks[which]));
  const bool sgd = context.optimizer == OptimizerKind::sgd && !context.only_last_step;
  r.spread = std::max(last.spread.back(), last.output_spread);
  const double apart = std::max(powers_between(r.spread, kLeastSpread), powers_between(r.gradient, kPlentyOfGradient));
  const double reaches = powers_between(r.least_gradient, sgd ? kLeastOfSgd : kLeastGradient);
  const double bounded = powers_between(kMostGradient, r.gradient);
  r.margin = std::min({apart, reaches, bounded});
  if (!(bounded > 0))
    r.sign = Sign::exploded;
  else if (!(reaches > 0) || (!(apart > 0) && r.gradient < kGoneShare))
    r.sign = Sign::vanished;
  else if (!(apart > 0))
    r.sign = Sign::alike;
  if (r.sign == Sign::vanished) r.gone_below = addnorm::gone_below(last.gradient_norm, kGoneShare);
  return r;
}

}  // namespace

std::size_t gone_below(const std::vector<double>& norms, double share) {
  for (std::size_t place = norms.size(); place-- > 1;)
    if (!(norms[place - 1] >= share * norms.back())) return place;
  return 0;
}

Reading read_trial(const Trial& trial, const RuleContext& context) {
  Reading worst{.margin = 100};
  if (!trial.records.empty())
    for (std::size_t i = 0; i < trial.after().stacks.size(); ++i)
      if (const Reading r = read_stack(trial, i, context); r.margin < worst.margin) worst = r;
  if (trial.records.empty() || trial.after().stacks.size() < 2) worst.stack.clear();
  worst.steps = trial.losses.size();
  worst.first_loss = trial.losses.empty() ? 0 : trial.losses.front();
  worst.last_loss = mean_of_last(trial.losses, trial.losses.size());
  if (trial.broke_off.empty()) return worst;
  worst.sign = Sign::exploded;
  worst.margin = -10;
  worst.broke_off = trial.broke_off;
  return worst;
}

bool is_clear(const Reading& r) { return r.trains() && r.margin > kClearMargin; }

Standing standing_of(const Reading& r, const RuleContext& context) {
  if (r.sign == Sign::exploded) return Standing::fails;
  if (r.spread < kNoRecovery && r.gradient < kPlentyOfGradient) return Standing::fails;
  const bool in_time = context.optimizer != OptimizerKind::sgd && !(r.last_loss > context.plateau + kAbovePlateau);
  return is_clear(r) && in_time ? Standing::passes : Standing::open;
}

std::string Reading::text() const {
  const std::string where = stack.empty() ? "" : concat(" of the ", stack);
  const std::string after = concat("after ", steps, " steps ");
  if (!broke_off.empty()) return broke_off;
  switch (sign) {
    case Sign::exploded:
      return concat(after, "the gradient before the first unit", where, " is ", short_figure(gradient),
                    " times that after the last");
    case Sign::vanished:
      if (gone_below == 0)
        return concat("at its lowest only ", short_figure(least_gradient),
                      " of the gradient after the last unit reached the first of ", units, where);
      return concat(after, "no gradient reaches below unit ", gone_below, " of ", units, where,
                    spread <= kLeastSpread ? "; tokens have become alike at the top" : "");
    case Sign::alike:
      return concat(after, "tokens have become alike at the top", where, ": only ", short_figure(spread),
                    " of the stream differs between them");
    case Sign::rising:
      return concat(after, "the loss is ", loss_figure(last_loss), where, ", above the ", loss_figure(first_loss),
                    " that it began with");
    case Sign::stuck:
      if (left_plateau)
        return concat(after, "the loss is ", loss_figure(last_loss), where, " and falls no more in time; below ",
                      loss_figure(line), " counts as trained");
      return concat(after, "the loss is ", loss_figure(last_loss), where,
                    ": hardly below what frequencies alone give, though tokens differ at the top (", short_figure(spread), ")");
    case Sign::slow:
      if (!(first_loss - last_loss > kHardlyAnything))
        return concat("hardly anything is learned at this rate: ", after, "the loss is ", loss_figure(last_loss), where,
                      ", and it began with ", loss_figure(first_loss));
      return concat("it is slow, not stuck: ", after, "the loss is ", loss_figure(last_loss), where,
                    steps < kForecastSteps ? concat("; as it falls it is ", loss_figure(ahead), " at step ", kForecastSteps) : "",
                    ", and below ", loss_figure(line), " counts as trained");
    default:
      return concat(after, "the gradient reaches the first of ", units, " units", where, " (", short_figure(gradient),
                    " times the last one's), tokens differ at the top (", short_figure(spread), ") and the loss went from ",
                    short_figure(first_loss), " to ", short_figure(last_loss));
  }
}

}  // namespace addnorm
