#include "addnorm/claims/claim.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <sstream>

#include "addnorm/core/names.h"
#include "addnorm/residual/init_spec.h"
#include "core/figures.h"
#include "lab/outcome/statistics.h"

namespace addnorm {

namespace {

double extreme(const std::vector<double>& values, bool most) {
  for (const double v : values)
    if (std::isnan(v)) return v;
  return most ? std::ranges::max(values) : std::ranges::min(values);
}

}  // namespace

void Samples::add(std::string_view name, double value) {
  for (Series& series : series_)
    if (series.name == name) return series.values.push_back(value);
  series_.push_back({std::string(name), {value}});
}

bool Samples::has(std::string_view name) const {
  return std::ranges::any_of(series_, [&](const Series& s) { return s.name == name; });
}

const std::vector<double>& Samples::of(std::string_view name) const {
  for (const Series& series : series_)
    if (series.name == name) return series.values;
  refuse("samples: nothing was measured under the name '", name, "'");
}

double Samples::mean(std::string_view name) const { return lab::mean_of(of(name)); }
double Samples::spread(std::string_view name) const { return lab::deviation_of(of(name)); }
double Samples::least(std::string_view name) const { return extreme(of(name), false); }
double Samples::most(std::string_view name) const { return extreme(of(name), true); }

std::string Samples::text(std::string_view name) const {
  const double off = spread(name);
  return off <= 1e-9 * std::abs(mean(name)) ? figure_text(mean(name)) : concat(figure_text(mean(name)), " ± ", figure_text(off));
}

std::string Samples::seeds_text(std::string_view name) const {
  const std::vector<double>& values = of(name);
  return concat(std::ranges::count(values, 1.0), " of ", values.size(), values.size() == 1 ? " seed" : " seeds");
}

std::int64_t ClaimContext::steps(std::int64_t at_scale_one) const {
  return std::max<std::int64_t>(1, std::llround(scale * static_cast<double>(at_scale_one)));
}

void ClaimContext::check() const {
  if (go_on && !go_on()) throw ClaimStopped("the experiment was asked to stop");
}

std::string Claim::command(double scale, std::size_t of_seeds, std::string_view init) const {
  std::string text = "addnorm lab claims --only " + id;
  if (scale != 1) text += concat(" --scale ", scale);
  if (of_seeds != 0 && of_seeds != seeds) text += concat(" --seeds ", of_seeds);
  if (!init.empty()) text += concat(" --init ", init);
  return text;
}

namespace {

std::vector<std::string> rules_of(const Claim& claim, const ClaimOptions& options) {
  if (options.init.empty())
    return claim.compares ? std::vector<std::string>(kClaimInits.begin(), kClaimInits.end()) : std::vector<std::string>{""};
  require(claim.compares, "claims: ", claim.id, " has no weights that a rule of initialisation could draw, and init is '",
          options.init, "'; leave it out, or take a claim that compares");
  require(
      folded(options.init) != folded(kInitOfArrangement), "claims: init is '", options.init,
      "', by which everything that is compared would start in another way; take one rule for all: ", listed(init_rule_names()));
  return {init_rule_named(options.init).name};
}

}  // namespace

ClaimResult run_claim(const Claim& claim, const ClaimOptions& options) {
  require(options.scale >= 0.01 && options.scale <= 100, "claims: scale is ", options.scale, "; it must be 0.01 ... 100");
  require(options.seeds <= 1000, "claims: ", options.seeds, " seeds; 1000 are the most");
  const std::vector<std::string> rules = rules_of(claim, options);
  ClaimContext context{.scale = options.scale, .go_on = options.go_on, .runs = options.runs};
  const std::size_t seeds = options.seeds > 0 ? options.seeds : claim.seeds;
  for (std::size_t i = 1; i <= seeds; ++i) context.seeds.push_back(i);

  const auto begun = std::chrono::steady_clock::now();
  const std::clock_t worked = std::clock();
  ClaimResult result{.scale = options.scale, .seeds = seeds};
  for (const std::string& rule : rules) {
    if (claim.compares) context.init = rule;
    ClaimUnderRule under{.init = rule, .values = claim.measure(context)};
    under.verdict = claim.judge(under.values);
    result.by_rule.push_back(std::move(under));
  }
  result.values = result.by_rule.front().values;
  result.verdict = claim.compares ? combined(claim.kind(), result.by_rule) : result.by_rule.front().verdict;
  if (!claim.compares) result.by_rule.clear();
  result.verdict_text = verdict_text(claim.kind(), result.verdict);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  result.cpu_seconds = static_cast<double>(std::clock() - worked) / CLOCKS_PER_SEC;
  return result;
}

}  // namespace addnorm
