// probes.jsonl, read back.
#include <cmath>

#include "addnorm/lab/cause.h"
#include "core/json/json.h"

namespace addnorm {
namespace {

double number_or_nan(const Json* json) { return json && json->is_number() ? json->number() : std::nan(""); }

void read_numbers(const Json& object, const char* name, std::vector<double>& into) {
  const Json* list = object.find(name);
  if (list == nullptr || !list->is_array()) return;
  for (const Json& item : list->array_items()) into.push_back(number_or_nan(&item));
}

std::string text_in(const Json& object, const char* name) {
  const Json* text = object.find(name);
  return text && text->is_string() ? text->text() : "";
}

StackRecord stack_in(const Json& json) {
  StackRecord stack{.name = text_in(json, "name")};
  if (const Json* units = json.find("units"); units && units->is_array())
    for (const Json& unit : units->array_items()) stack.units.push_back(unit.is_string() ? unit.text() : "");
  const auto take = [&](const char* name, std::vector<double>& into) { read_numbers(json, name, into); };
  take("stream_rms", stack.stream_rms);
  take("stream_mean", stack.stream_mean);
  take("spread", stack.spread);
  if (const Json* output = json.find("output_spread")) stack.output_spread = number_or_nan(output);
  take("gradient_norm", stack.gradient_norm);
  take("branch_rms", stack.branch_rms);
  take("update_ratio", stack.update_ratio);
  take("cosine", stack.cosine);
  take("gradient_skip", stack.gradient_skip);
  take("gradient_branch", stack.gradient_branch);
  take("attention_entropy", stack.attention_entropy);
  take("max_logit", stack.max_logit);
  return stack;
}

}  // namespace

std::vector<ProbeRecord> probe_records(std::string_view lines) {
  std::vector<ProbeRecord> records;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const Json json = parsed_or_null(lines.substr(0, end));
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    const Json* step = json.find("step");
    const Json* stacks = json.find("stacks");
    if (step == nullptr || !step->is_integer() || stacks == nullptr || !stacks->is_array()) continue;
    ProbeRecord record{.step = step->integer(), .loss = number_or_nan(json.find("loss"))};
    for (const Json& stack : stacks->array_items())
      if (stack.is_object()) record.stacks.push_back(stack_in(stack));
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace addnorm
