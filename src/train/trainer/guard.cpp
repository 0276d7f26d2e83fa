#include "addnorm/train/guard.h"

#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

struct LossSpread {
  double mean = 0, deviation = 0;
};

/// In units of the largest, whose square may be no number.
LossSpread spread_of(const std::vector<double>& values) {
  double largest = 0, sum = 0, squares = 0;
  for (const double x : values) largest = std::max(largest, std::abs(x));
  if (largest == 0) return {};
  const auto n = static_cast<double>(values.size());
  for (const double x : values) sum += x / largest;
  for (const double x : values) squares += (x / largest - sum / n) * (x / largest - sum / n);
  return {largest * (sum / n), largest * std::sqrt(squares / n)};
}

Judgement against(const std::vector<double>& window, double value, bool gradient, double limit) {
  const LossSpread spread = spread_of(window);
  const double deviation = std::max(spread.deviation, 0.01 * std::abs(spread.mean));
  const bool spike = value > spread.mean + limit * deviation;
  return {spike ? Verdict::spike : Verdict::ok, gradient, value, spread.mean, deviation};
}

void enter(std::vector<double>& window, double value, std::size_t most) {
  if (window.size() >= most) window.erase(window.begin(), window.end() - static_cast<std::ptrdiff_t>(most - 1));
  window.push_back(value);
}

}  // namespace

void check(const GuardOptions& o) {
  require(std::isfinite(o.spike) && o.spike >= 0, "guard: spike is ", o.spike, " deviations; it must be 0 (off) or more");
  require(o.window >= 2 && o.window <= 1000000, "guard: the window is ", o.window, " steps; it must be 2 ... 1000000");
  require(o.least >= 2 && o.least <= o.window, "guard: least is ", o.least, "; it must be 2 ... ", o.window, ", the window");
}

Guard::Guard(const GuardOptions& options, GuardState state) : options_(options), state_(std::move(state)) {
  check(options_);
  require(state_.losses.size() == state_.norms.size() && state_.losses.size() <= options_.window, "guard: the state holds ",
          state_.losses.size(), " losses and ", state_.norms.size(), " gradient norms; it must be as many, and at most ",
          options_.window);
  for (const std::vector<double>* values : {&state_.losses, &state_.norms})
    for (const double x : *values) require(std::isfinite(x), "guard: the state holds ", x, "; only finite values enter it");
}

Judgement Guard::judge(double loss, double gradient_norm) {
  Judgement found;
  if (!std::isfinite(loss))
    found = {Verdict::bad, false, loss};
  else if (!std::isfinite(gradient_norm))
    found = {Verdict::bad, true, gradient_norm};
  else if (options_.spike > 0 && state_.losses.size() >= options_.least) {
    found = against(state_.losses, loss, false, options_.spike);
    if (found.verdict == Verdict::ok) found = against(state_.norms, gradient_norm, true, options_.spike);
  }
  state_.bad += found.verdict == Verdict::bad;
  state_.spikes += found.verdict == Verdict::spike;
  state_.in_a_row = found.verdict == Verdict::ok ? 0 : state_.in_a_row + 1;
  if (found.verdict != Verdict::ok) return found;
  if (options_.spike > 0) {
    enter(state_.losses, loss, options_.window);
    enter(state_.norms, gradient_norm, options_.window);
  }
  return {};
}

std::string describe(const Judgement& j) {
  const char* what = j.gradient ? "gradient norm" : "loss";
  if (j.verdict == Verdict::bad) return concat(what, " is ", j.value);
  if (j.verdict == Verdict::ok) return "ok";
  return concat(what, " ", j.value, " is ", (j.value - j.mean) / j.deviation, " deviations above ", j.mean,
                ", its mean over the last good steps");
}

}  // namespace addnorm
