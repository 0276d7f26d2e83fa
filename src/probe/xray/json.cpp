#include "core/json/json.h"
#include "addnorm/core/error.h"
#include "addnorm/core/version.h"
#include "addnorm/probe/xray.h"

namespace addnorm {
namespace {

Json json_of(const StreamPeak& peak) {
  Json json{{"value", peak.value}, {"over_median", peak.over_median}, {"feature", peak.feature}, {"position", peak.position}};
  if (peak.token >= 0) json["token"] = peak.token;
  if (!peak.text.empty()) json["text"] = peak.text;
  return json;
}

Json json_of(const StackXray& stack, bool by_loss) {
  Json peaks = Json::array();
  for (const StreamPeak& peak : stack.peaks) peaks.push_back(json_of(peak));
  Json json{{"name", stack.name},
            {"layers", stack.layers},
            {"units", stack.units},
            {"stream_rms", stack.stream_rms},
            {"peaks", peaks},
            {by_loss ? "lens_loss" : "lens_change", stack.lens},
            {"bypass_change", stack.bypass_change},
            {"branch_rms", stack.branch_rms},
            {"update_ratio", stack.update_ratio}};
  const auto where_measured = [&](const char* name, const std::vector<double>& values) {
    if (!values.empty()) json[name] = values;
  };
  where_measured("branch_share", stack.branch_share);
  where_measured("cosine", stack.cosine);
  where_measured("block_influence", stack.block_influence);
  where_measured("attention_entropy", stack.attention_entropy);
  where_measured("max_logit", stack.max_logit);
  where_measured("attribution", stack.attribution);
  json["expendable"] = Json{{"units", stack.expendable.units}, {"together", stack.expendable.together}};
  return json;
}

Json json_of(const NormGains& norm) {
  return Json{{"stack", norm.stack}, {"name", norm.name}, {"slot", norm.slot}, {"unit", norm.unit ? Json(*norm.unit) : Json()},
              {"rms", norm.rms},     {"min", norm.least}, {"max", norm.most},  {"bias_rms", norm.bias_rms}};
}

Json model_json(const XrayResult& r) {
  return Json{{"name", r.model},
              {"kind", name_of(r.config.model)},
              {"arrangement", r.config.arrangement},
              {"formula", r.formula},
              {"norm", r.config.norm},
              {"layers", r.config.layers},
              {"d_model", r.config.d_model},
              {"heads", r.config.heads},
              {"vocab", r.config.vocab},
              {"parameters", r.parameters}};
}

}  // namespace

std::string to_json(const XrayResult& r) {
  Json stacks = Json::array(), norms = Json::array(), missing = Json::array();
  for (const StackXray& stack : r.stacks) stacks.push_back(json_of(stack, r.measure != XrayMeasure::embedding));
  for (const NormGains& norm : r.norms) norms.push_back(json_of(norm));
  for (const auto& [what, why] : r.missing) missing.push_back(Json{{"what", what}, {"why", why}});
  Json all{{"xray", 1},
           {"version", version()},
           {"model", model_json(r)},
           {"text", Json{{"source", r.text}, {"sequences", r.sequences}, {"tokens", r.tokens}, {"labels", r.labels}}},
           {"measure", name_of(r.measure)},
           {"loss", r.loss},
           {"findings", findings_of(r)},
           {"stacks", stacks},
           {"norms", norms}};
  if (r.ln != AttributionNorm::automatic) all["attribution"] = Json{{"ln", name_of(r.ln)}, {"whole", r.attributed}};
  all["missing"] = missing;
  all["notes"] = r.notes;
  all["warnings"] = r.warnings;
  all["seconds"] = r.seconds;
  return all.dump();
}

}  // namespace addnorm
