#include "addnorm/probe/record.h"

#include "probe/training/probe_json.h"

namespace addnorm {
namespace {

void put(Json& object, const char* name, const std::vector<double>& values) {
  if (!values.empty()) object[name] = values;
}

void put(Json& object, const char* name, std::optional<double> value) {
  if (value) object[name] = *value;
}

Json json_of(const StackRecord& s) {
  Json object{{"name", s.name}, {"units", s.units}};
  put(object, "stream_rms", s.stream_rms);
  put(object, "stream_mean", s.stream_mean);
  put(object, "spread", s.spread);
  object["output_spread"] = s.output_spread;
  put(object, "gradient_norm", s.gradient_norm);
  put(object, "branch_rms", s.branch_rms);
  put(object, "update_ratio", s.update_ratio);
  put(object, "cosine", s.cosine);
  put(object, "gradient_skip", s.gradient_skip);
  put(object, "gradient_branch", s.gradient_branch);
  put(object, "attention_entropy", s.attention_entropy);
  put(object, "max_logit", s.max_logit);
  put(object, "max_over_median", s.max_over_median);
  put(object, "kurtosis", s.kurtosis);
  put(object, "token_similarity", s.token_similarity);
  put(object, "stable_rank", s.stable_rank);
  put(object, "effective_rank", s.effective_rank);
  put(object, "position_accuracy", s.position_accuracy);
  put(object, "drift_mean", s.drift_mean);
  put(object, "drift_deviation", s.drift_deviation);
  put(object, "bypass_change", s.bypass_change);
  put(object, "lens_loss", s.lens_loss);
  put(object, "lens_kl", s.lens_kl);
  put(object, "skip_share", s.skip_share);
  put(object, "skip_gain", s.skip_gain);
  put(object, "logit_attribution", s.logit_attribution);
  if (!s.dependency.empty()) {
    Json rows = Json::array();
    for (const std::vector<double>& row : s.dependency) rows.push_back(Json(row));
    object["dependency"] = rows;
  }
  return object;
}

}  // namespace

std::string to_json(const ProbeRecord& record) { return json_of(record).dump(); }

Json json_of(const ProbeRecord& record) {
  Json stacks = Json::array(), roles = Json::object();
  for (const StackRecord& stack : record.stacks) stacks.push_back(json_of(stack));
  for (const RoleRecord& role : record.roles) {
    Json one{{"gradient_norm", role.gradient_norm}, {"update_to_weight", role.update_to_weight}};
    put(one, "gradient_snr", role.gradient_snr);
    roles[role.role] = one;
  }
  Json all{{"step", record.step}, {"loss", record.loss}, {"seconds", record.seconds}};
  put(all, "probe_loss", record.probe_loss);
  put(all, "model_change", record.model_change);
  all["stacks"] = stacks;
  all["roles"] = roles;
  return all;
}

}  // namespace addnorm
