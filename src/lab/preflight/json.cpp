#include "core/json/json.h"
#include "addnorm/core/error.h"
#include "addnorm/lab/preflight.h"
#include "probe/training/probe_json.h"
#include "train/run/options_json.h"

namespace addnorm {
namespace {

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json json_of(const Trial& trial) {
  Json records = Json::array();
  for (const ProbeRecord& record : trial.records) records.push_back(json_of(record));
  return Json{{"seed", trial.seed},
              {"losses", trial.losses},
              {"gradient_norms", trial.norms},
              {"broke_off", trial.broke_off},
              {"output_sensitivity", or_null(trial.output_sensitivity)},
              {"one_step_change", or_null(trial.one_step_change)},
              {"seconds", trial.seconds},
              {"records", records}};
}

}  // namespace

std::string to_json(const PreflightResult& r) {
  Json advice = Json::array(), trials = Json::array();
  for (const Advice& a : r.advice) advice.push_back(Json{{"option", a.option}, {"verdict", a.says}, {"change", a.change}});
  for (const Trial& trial : r.trials) trials.push_back(json_of(trial));
  Json all{{"verdict", name_of(r.forecast)},
           {"confidence", r.confidence},
           {"beyond_measured", r.beyond.empty() ? Json() : Json(concat("none of them ", r.beyond))},
           {"clear", r.clear},
           {"reason", r.reason},
           {"advice", advice},
           {"passed", r.passed},
           {"seeds", r.trials.size()},
           {"horizon", r.horizon},
           {"twin", r.twin},
           {"formula", r.formula},
           {"skip_gain_predicted", or_null(r.skip_gain_predicted)},
           {"skip_gain_measured", or_null(r.skip_gain_measured)}};
  if (!r.trials.empty() && !r.shown().records.empty()) {
    const StackRecord &start = r.shown().start().stacks[r.stack], &after = r.shown().after().stacks[r.stack];
    all["stack"] = start.name;
    all["units"] = start.units;
    all["stream_rms"] = start.stream_rms;
    all["gradient_norm"] = start.gradient_norm;
    all["spread_at_start"] = start.spread;
    all["stream_rms_after"] = after.stream_rms;
    all["gradient_norm_after"] = after.gradient_norm;
    all["spread"] = after.spread;
    all["output_sensitivity"] = or_null(r.trials[r.typical].output_sensitivity);
    all["one_step_change"] = or_null(r.trials[r.typical].one_step_change);
  }
  all["options"] = json_of(r.options);
  all["trials"] = trials;
  all["second_look"] = r.second_look ? json_of(*r.second_look) : Json();
  all["notes"] = r.notes;
  all["seconds"] = r.seconds;
  return all.dump();
}

}  // namespace addnorm
