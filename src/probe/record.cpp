#include "addnorm/probe/record.h"

#include "core/json.h"

namespace addnorm {
namespace {

void put(Json& object, const char* name, const std::vector<double>& values) {
  if (!values.empty()) object[name] = values;
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
  return object;
}

}  // namespace

std::string to_json(const ProbeRecord& record) {
  Json stacks = Json::array(), roles = Json::object();
  for (const StackRecord& stack : record.stacks) stacks.push_back(json_of(stack));
  for (const RoleRecord& role : record.roles)
    roles[role.role] = Json{{"gradient_norm", role.gradient_norm}, {"update_to_weight", role.update_to_weight}};
  return Json{{"step", record.step}, {"loss", record.loss}, {"seconds", record.seconds}, {"stacks", stacks}, {"roles", roles}}
      .dump();
}

}  // namespace addnorm
