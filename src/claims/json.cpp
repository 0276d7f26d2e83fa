// The result of a claim as JSON: what is kept, shown on the page, and committed in src/claims/results.
#include <cmath>

#include "addnorm/claims/claim.h"
#include "addnorm/core/version.h"
#include "claims/again.h"
#include "core/json/json.h"
#include "lab/outcome/statistics.h"

namespace addnorm {
namespace {

Json values_of(const Samples& samples) {
  Json values = Json::array();
  for (const Samples::Series& series : samples.all()) {
    Json each = Json::array();
    for (const double value : series.values) each.push_back(value);
    values.push_back({{"name", series.name},
                      {"mean", lab::mean_of(series.values)},
                      {"spread", lab::deviation_of(series.values)},
                      {"seeds", series.values.size()},
                      {"each", each}});
  }
  return values;
}

Json inits_of(const Claim& claim, const ClaimResult& result) {
  Json rules = Json::array();
  for (const ClaimUnderRule& one : result.by_rule)
    rules.push_back({{"init", one.init},
                     {"verdict", verdict_text(claim.kind(), one.verdict)},
                     {"measured", one.verdict.measured},
                     {"values", values_of(one.values)}});
  return rules;
}

double hundredths(double seconds) { return std::round(seconds * 100) / 100; }

}  // namespace

std::string to_json(const Claim& claim, const ClaimResult& result) {
  const bool one_rule = result.by_rule.size() == 1;
  Json all{{"id", claim.id},
           {"claim", claim.statement},
           {"kind", claim.kind() == ClaimKind::statement ? "S" : "C"},
           {"source", claim.source},
           {"expected", claim.expected},
           {"measured", result.verdict.measured},
           {"values", values_of(result.values)},
           {"verdict", result.verdict_text},
           {"seconds", hundredths(result.seconds)},
           {"cpu_seconds", hundredths(result.cpu_seconds)},
           {"trains", claim.trains},
           {"scale", result.scale},
           {"seeds", result.seeds},
           {"command", claim.command(result.scale, result.seeds, one_rule ? result.by_rule.front().init : "")},
           {"version", version()}};
  if (!result.by_rule.empty()) all["inits"] = inits_of(claim, result);
  add_typed_texts(all, claim);
  return all.dump(2);
}

}  // namespace addnorm
