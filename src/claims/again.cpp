#include "claims/again.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "addnorm/claims/claim.h"
#include "core/json/json.h"

namespace addnorm {
namespace {

double number_or_nan(const Json& value) { return value.is_number() ? value.number() : std::numeric_limits<double>::quiet_NaN(); }

/// n numbers with mean 0 and deviation 1: a ramp, or all alike but one, which lies as high or as low as one of n can.
std::vector<double> shape_of(std::size_t n, unsigned which) {
  const auto count = static_cast<double>(n);
  if (which == 0) {
    std::vector<double> ramp;
    for (std::size_t i = 0; i < n; ++i) ramp.push_back(static_cast<double>(i) - (count - 1) / 2);
    const double deviation = std::sqrt(count * (count + 1) / 12);
    for (double& v : ramp) v /= deviation;
    return ramp;
  }
  const double side = which == 1 ? 1 : -1;
  std::vector<double> one_off(n, -side / std::sqrt(count));
  one_off[0] = side * (count - 1) / std::sqrt(count);
  return one_off;
}

/// How many of n were 1 where some were and all others 0, by mean and spread.
std::optional<std::size_t> ones_of(double mean, double spread, std::size_t n) {
  const auto count = static_cast<double>(n);
  const double ones = std::round(mean * count);
  if (ones < 1 || ones >= count || std::abs(ones / count - mean) > 1e-12) return std::nullopt;
  const double expected = std::sqrt(ones * (count - ones) / (count * (count - 1)));
  if (std::abs(expected - spread) > 1e-12) return std::nullopt;
  return static_cast<std::size_t>(ones);
}

/// Numbers that may have been measured: those that were where they were kept, else some with the same mean and spread.
class StandIns {
 public:
  explicit StandIns(const Json& values) : values_(values) {}

  /// The first three have one shape each for all series.
  Samples next() {
    Samples all;
    for (const Json& series : values_.array_items())
      for (const double v : numbers_of(series)) all.add(series["name"].text(), v);
    ++tries_;
    return all;
  }
  /// More than one set of numbers is possible.
  bool vary() const { return vary_; }

 private:
  std::vector<double> numbers_of(const Json& series) {
    if (const Json* each = series.find("each")) {
      std::vector<double> kept;
      for (const Json& one : each->array_items()) kept.push_back(number_or_nan(one));
      return kept;
    }
    const auto n = static_cast<std::size_t>(series["seeds"].integer());
    const double mean = number_or_nan(series["mean"]), spread = number_or_nan(series["spread"]);
    if (std::isnan(mean) || spread == 0 || n < 2) return std::vector<double>(n, mean);
    vary_ = true;  // by their order, if by nothing else
    std::vector<double> numbers;
    if (const auto ones = ones_of(mean, spread, n)) {
      numbers.assign(n, 0);
      std::fill_n(numbers.begin(), *ones, 1);
    } else {
      for (const double u : shape_of(n, tries_ < 3 ? tries_ : static_cast<unsigned>(random_() % 3)))
        numbers.push_back(mean + spread * u);
    }
    if (tries_ >= 3) std::ranges::shuffle(numbers, random_);
    return numbers;
  }

  const Json& values_;
  std::mt19937 random_{1};
  unsigned tries_ = 0;
  bool vary_ = false;
};

bool same(const ClaimVerdict& a, const ClaimVerdict& b) {
  return a.finding == b.finding && a.condition == b.condition && a.measured == b.measured;
}

/// Nothing where it hangs on more than means and spreads.
std::optional<ClaimVerdict> judged(const Claim& claim, const Json& values) {
  constexpr int kTries = 60;
  StandIns numbers(values);
  const ClaimVerdict first = claim.judge(numbers.next());
  for (int i = 1; numbers.vary() && i < kTries; ++i)
    if (!same(claim.judge(numbers.next()), first)) return std::nullopt;
  return first;
}

void set_verdict(Json& of, const Claim& claim, const ClaimVerdict& verdict) {
  of["verdict"] = verdict_text(claim.kind(), verdict);
  of["measured"] = verdict.measured;
}

}  // namespace

void add_typed_texts(Json& result, const Claim& claim) {
  result["claim"] = claim.statement;
  result["source"] = claim.source;
  for (const auto& [name, text] : {std::pair{"changed", &claim.changed}, {"start", &claim.start}}) {
    result.erase(name);
    if (!text->empty()) result[name] = *text;
  }
  result.erase("earlier");
  if (const EarlierVerdict& was = claim.earlier; !was.verdict.empty())
    result["earlier"] = Json{{"verdict", was.verdict}, {"why", was.why}, {"since", text_of(was.since)}};
  result.erase("see");
  if (claim.see.empty()) return;
  Json see = Json::array();
  for (const SeeAlso& other : claim.see) see.push_back(Json{{"id", other.id}, {"why", other.why}});
  result["see"] = see;
}

bool judge_again(Json& result, const Claim& claim) {
  if (!result.contains("inits")) {
    const auto verdict = judged(claim, result["values"]);
    if (verdict) set_verdict(result, claim, *verdict);
    if (verdict) result["expected"] = claim.expected;
    return verdict.has_value();
  }
  std::vector<ClaimUnderRule> rules;
  Json inits = Json::array();
  for (Json rule : result["inits"].array_items()) {
    const auto verdict = judged(claim, rule["values"]);
    if (!verdict) return false;
    rules.push_back({.init = rule["init"].text(), .verdict = *verdict});
    set_verdict(rule, claim, *verdict);
    inits.push_back(rule);
  }
  result["inits"] = inits;
  set_verdict(result, claim, combined(claim.kind(), rules));
  result["expected"] = claim.expected;
  return true;
}

}  // namespace addnorm
