#include "addnorm/lab/cause.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "addnorm/core/error.h"
#include "core/figures.h"
#include "lab/preflight/rule.h"

namespace addnorm {
namespace {

constexpr double kAlike = 0.01;  // spread at the top
constexpr double kNearlyAlike = 0.05;
constexpr double kLittleGradient = 0.1;  // g_0 / g_K
constexpr double kGone = 0.01;
constexpr double kExplodes = 200;
constexpr double kGrows = 1000;
constexpr double kDeadBranch = 1e-3;
constexpr double kSharpAttention = 0.02;

double ratio_of_ends(const std::vector<double>& by_place, bool bottom_over_top) {
  if (by_place.size() < 2) return std::nan("");
  const double bottom = by_place.front(), top = by_place.back();
  return bottom_over_top ? bottom / top : top / bottom;
}

/// With recompute only gradients of the bottom and, with some arrangements, of the top are measured, and lines of a file have
/// null for that and for infinity alike. But the bottom's is measured whenever any is, and what is not finite somewhere is not
/// finite there either.
bool has_infinite_gradient(const std::vector<double>& norms) { return !norms.empty() && !std::isfinite(norms.front()); }

/// What one record shows of its last stack.
struct Seen {
  const StackRecord* stack = nullptr;
  double spread = std::nan(""), gradient = std::nan(""), growth = std::nan("");
  bool infinite_gradient = false, infinite_stream = false;

  explicit Seen(const ProbeRecord& record) {
    if (record.stacks.empty()) return;
    stack = &record.stacks.back();
    if (!stack->spread.empty()) spread = std::fmax(stack->spread.back(), stack->output_spread);
    gradient = ratio_of_ends(stack->gradient_norm, true);
    growth = ratio_of_ends(stack->stream_rms, false);
    const auto not_finite = [](double value) { return !std::isfinite(value); };
    infinite_gradient = has_infinite_gradient(stack->gradient_norm);
    infinite_stream = std::ranges::any_of(stack->stream_rms, not_finite);
  }
  std::size_t units() const { return stack ? stack->units.size() : 0; }

  /// The highest unit below which the gradient is gone; 0: it is not.
  std::size_t gone_below() const {
    const auto measured = [](double norm) { return !std::isnan(norm); };
    return std::ranges::all_of(stack->gradient_norm, measured) ? addnorm::gone_below(stack->gradient_norm, kGone) : 0;
  }
  bool tokens_alike() const { return spread < kAlike && gradient < kLittleGradient; }
  bool explodes() const { return gradient > kExplodes || (infinite_gradient && !infinite_stream); }
  bool grows() const { return growth > kGrows || infinite_stream; }
  bool attention_collapsed() const {
    double sum = 0, count = 0;
    for (const double entropy : stack->attention_entropy)
      if (std::isfinite(entropy)) sum += entropy, ++count;
    return count > 0 && sum / count < kSharpAttention;
  }
  bool branches_dead() const {
    const std::vector<double>& share = stack->update_ratio;
    if (share.size() < 4) return false;
    return std::all_of(share.begin() + static_cast<std::ptrdiff_t>(share.size() / 2), share.end(),
                       [](double value) { return value < kDeadBranch; });
  }
};

std::string about_gradient(const Seen& seen, std::size_t unit) {
  if (unit == 0) return concat("hardly any gradient reaches the bottom (", short_figure(seen.gradient), " of the top's)");
  return concat("no gradient reaches below unit ", unit, " of ", seen.units());
}

Cause read_off(CauseKind kind, const Seen& seen, const ProbeRecord& record) {
  Cause cause{.kind = kind, .step = record.step};
  const std::string when = record.step <= 1 ? "from the first step on " : concat("by step ", record.step, " ");
  switch (kind) {
    case CauseKind::tokens_alike:
      cause.unit = seen.gone_below();
      cause.text = concat(when, "tokens are ", seen.spread < kAlike ? "" : "nearly ", "alike at the top (spread ",
                          short_figure(seen.spread), ") and ", about_gradient(seen, cause.unit));
      break;
    case CauseKind::gradient_vanishes:
      cause.unit = seen.gone_below();
      cause.text = concat(when, about_gradient(seen, cause.unit));
      break;
    case CauseKind::gradient_explodes:
      cause.text = seen.infinite_gradient
                       ? concat(when, "the gradient is not finite")
                       : concat(when, "the gradient grows by a factor of ", short_figure(seen.gradient), " on its way down");
      break;
    case CauseKind::stream_grows:
      cause.text = seen.infinite_stream
                       ? concat(when, "the stream is not finite")
                       : concat(when, "the stream is ", short_figure(seen.growth), " times larger at the top than at the bottom");
      break;
    case CauseKind::attention_collapse:
      cause.text = concat(when, "attention looks at single tokens only");
      break;
    case CauseKind::branches_die:
      cause.text = concat(when, "the upper half of the units adds less than a thousandth to the stream");
      break;
    default:
      cause.text = concat(when, "tokens are alike at the top (spread ", short_figure(seen.spread),
                          std::isfinite(seen.gradient) ? "), though gradients pass" : "); gradients were not measured");
  }
  return cause;
}

struct CauseRule {
  CauseKind kind;
  bool (*holds)(const Seen&);
};
constexpr std::array kBeforeOutcome{
    CauseRule{CauseKind::tokens_alike, [](const Seen& s) { return s.tokens_alike(); }},
    CauseRule{CauseKind::gradient_explodes, [](const Seen& s) { return s.explodes(); }},
    CauseRule{CauseKind::gradient_vanishes, [](const Seen& s) { return s.gradient < kGone; }},
    CauseRule{CauseKind::stream_grows, [](const Seen& s) { return s.grows(); }},
};
constexpr std::array kAfterOutcome{
    CauseRule{CauseKind::tokens_alike, [](const Seen& s) { return s.spread < kNearlyAlike && s.gradient < kLittleGradient; }},
    CauseRule{CauseKind::attention_collapse, [](const Seen& s) { return s.attention_collapsed(); }},
    CauseRule{CauseKind::branches_die, [](const Seen& s) { return s.branches_dead(); }},
    CauseRule{CauseKind::rank_collapse, [](const Seen& s) { return s.spread < kAlike; }},
};

/// A rule must hold in most records of the second half; the first record in which it holds is reported. A run that broke off
/// may not have been looked at when it did: there any record counts.
std::optional<Cause> by_rule(const CauseRule& rule, std::span<const ProbeRecord> records, bool broke_off) {
  const ProbeRecord* since = nullptr;
  std::size_t held = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Seen seen(records[i]);
    if (seen.stack == nullptr || !rule.holds(seen)) continue;
    if (since == nullptr) since = &records[i];
    held += i >= records.size() / 2;
  }
  const bool mostly = 2 * held > records.size() - records.size() / 2;
  if (since == nullptr || (!mostly && !broke_off)) return std::nullopt;
  const bool about_unit = rule.kind == CauseKind::tokens_alike || rule.kind == CauseKind::gradient_vanishes;
  const ProbeRecord* const last = &records.back();
  for (const ProbeRecord* at = since; about_unit && Seen(*since).gone_below() == 0 && at <= last; ++at)
    if (const Seen seen(*at); seen.stack != nullptr && seen.gone_below() > 0)
      since = at;  // it takes some steps until all is gone
  return read_off(rule.kind, Seen(*since), *since);
}

}  // namespace

const char* name_of(CauseKind kind) {
  static constexpr std::array kNames{"tokens alike", "gradient vanishes",  "gradient explodes", "stream grows", "rank collapse",
                                     "branches die", "attention collapse", "late divergence",   "slow",         "unknown"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::vector<CauseKind> signs_in(std::span<const ProbeRecord> records) {
  std::vector<CauseKind> kinds;
  const auto add = [&](const CauseRule& rule) {
    if (by_rule(rule, records, false) && std::ranges::find(kinds, rule.kind) == kinds.end()) kinds.push_back(rule.kind);
  };
  std::ranges::for_each(kBeforeOutcome, add);
  std::ranges::for_each(kAfterOutcome, add);
  return kinds;
}

std::optional<Cause> find_cause(std::span<const ProbeRecord> records, const Judged& judged) {
  if (judged.outcome == Outcome::trained || judged.outcome == Outcome::too_short) return std::nullopt;
  for (const CauseRule& rule : kBeforeOutcome)
    if (auto cause = by_rule(rule, records, judged.broke_off)) return cause;
  if (judged.outcome == Outcome::diverged)
    return Cause{
        .kind = CauseKind::late_divergence,
        .text = concat("it had come down to ", short_figure(judged.best), " and ", judged.broke_off ? "broke off" : "diverged",
                       judged.diverged_at > 0 ? concat(" at step ", judged.diverged_at) : ""),
        .step = judged.diverged_at};
  if (judged.outcome == Outcome::slow)
    return Cause{.kind = CauseKind::slow, .text = "it has left the plateau and its loss still falls: it needs more steps"};
  for (const CauseRule& rule : kAfterOutcome)
    if (auto cause = by_rule(rule, records, false)) return cause;
  return Cause{.kind = CauseKind::unknown,
               .text = records.empty() ? "there are no probes to read a cause from" : "the probes show no known cause"};
}

}  // namespace addnorm
