#include "lab/advice.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "addnorm/core/error.h"
#include "addnorm/residual/catalogue.h"

namespace addnorm {
namespace {

constexpr std::size_t kWarmups[] = {50, 100, 150, 200, 400, 800};
constexpr double kRates[] = {0.4, 0.2, 0.1, 0.05};  // times the asked one
/// In the order of how little they change: a weight of the skip, a measured one, the norm inside the branch, no norm at all.
constexpr const char* kArrangements[] = {"deepnorm", "admin", "pre-ln", "rezero"};

bool passes(const TrialGround& ground, const RunOptions& options, const std::string& what) {
  const Tried tried = try_out(ground, options, ground.request.seeds, what, true);
  return !tried.stopped && tried.trains();
}

void add(const TrialGround& ground, std::vector<Advice>& found, std::string option, const RunOptions& options) {
  found.push_back({std::move(option), "trains", options});
  if (ground.observer) ground.observer->on_advice(found.back());
}

}  // namespace

std::string rate_figure(double rate) {
  std::ostringstream out;
  out << std::setprecision(2) << std::scientific << rate;
  std::string text = out.str();  // 4.00e-04
  const std::size_t e = text.find('e');
  std::string digits = text.substr(0, e), power = text.substr(e + 1);
  while (digits.back() == '0') digits.pop_back();
  if (digits.back() == '.') digits.pop_back();
  return concat(digits, "e", std::stoi(power));
}

RunOptions with_warmup(RunOptions options, std::size_t steps) {
  options.warmup_steps = steps;
  return options;
}

RunOptions with_rate(RunOptions options, double rate) {
  options.min_lr = options.min_lr.value_or(0) * rate / options.lr;
  options.lr = rate;
  return options;
}

std::vector<std::size_t> longer_warmups(const RunOptions& options) {
  std::vector<std::size_t> all;
  for (const std::size_t steps : kWarmups)
    if (steps > options.warmup_steps.value_or(0) && steps <= options.steps) all.push_back(steps);
  return all;
}

/// The longest first: where that does not help, none does.
std::optional<std::size_t> passing_warmup(const TrialGround& ground, const RunOptions& options) {
  const std::vector<std::size_t> all = longer_warmups(options);
  const auto trains = [&](std::size_t steps) {
    return passes(ground, with_warmup(options, steps), concat("--warmup-steps ", steps));
  };
  if (all.empty() || !trains(all.back())) return std::nullopt;
  std::size_t low = 0, high = all.size() - 1;  // all[high] passes
  while (low < high && ground.go_on()) {
    const std::size_t middle = (low + high) / 2;
    if (trains(all[middle]))
      high = middle;
    else
      low = middle + 1;
  }
  return all[high];
}

void other_advice(const TrialGround& ground, const RunOptions& options, std::vector<Advice>& found) {
  for (const double factor : kRates) {
    if (!ground.go_on()) return;
    const RunOptions slower = with_rate(options, options.lr * factor);
    const std::string option = concat("--lr ", rate_figure(slower.lr));
    if (!passes(ground, slower, option)) continue;
    add(ground, found, option, slower);
    break;
  }
  for (const char* name : kArrangements) {
    if (!ground.go_on() || options.model.arrangement == name) continue;
    RunOptions other = options;
    other.model.arrangement = name;
    other.model.own_arrangement.reset();
    other.model.choices = {};
    other.model.final_norm.reset();
    const std::string option = concat("--arrangement ", name);
    if (!passes(ground, other, option)) continue;
    add(ground, found, option, other);
    break;
  }
}

}  // namespace addnorm
