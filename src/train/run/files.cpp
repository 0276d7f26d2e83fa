// run.json, and which options differ between two of them.
#include "addnorm/core/version.h"
#include "addnorm/model/stack.h"
#include "addnorm/residual/explain.h"
#include "addnorm/train/run_folder.h"
#include "core/figures.h"
#include "core/file.h"
#include "core/json/record.h"
#include "core/system/machine.h"
#include "train/run/options_json.h"

namespace addnorm {
namespace {

Json object_of(std::string_view text, std::string_view where) {
  Json json = parsed(text, where);
  if (!json.is_object()) throw DataError(concat(where, ": holds ", json.type_name(), "; an object is needed"));
  return json;
}

Json machine_record() {
  const MachineFacts found = machine_facts();
  Json facts = Json::object();
  if (!found.system.empty()) {
    facts["host"] = found.host;
    facts["system"] = found.system;
  }
  facts["processor"] = found.processor;
  facts["processors"] = found.processors;
  facts["threads_granted"] = granted_threads();
  facts["memory_mib"] = found.memory_bytes / (1 << 20);
  facts["compiler"] = __VERSION__;
  return facts;
}

void compare(const Json& before, const Json& now, const std::string& path, std::vector<FieldDifference>& found) {
  const auto inside = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  const auto value = [](const Json& object, const std::string& key) {
    return object.contains(key) ? object[key].dump() : "nothing";
  };
  std::vector<std::string> keys;
  for (const JsonField& field : before.items()) keys.push_back(field.key);
  for (const JsonField& field : now.items())
    if (!before.contains(field.key)) keys.push_back(field.key);
  for (const std::string& key : keys) {
    const bool in_both = before.contains(key) && now.contains(key);
    if (in_both && before[key] == now[key]) continue;
    if (in_both && before[key].is_object() && now[key].is_object())
      compare(before[key], now[key], inside(key), found);
    else
      found.push_back({inside(key), value(before, key), value(now, key)});
  }
}

}  // namespace

template <class Io>
static void fields(Io& io, RunRecord& record) {
  io("version", record.version);
  io("begun", record.begun);
  io("data_paths", record.data_paths);
  io("data_fingerprint", record.data_fingerprint);
}

std::string initialisation_record(const ModelConfig& model) {
  const Arrangement row = with_options(arrangement_of(model), residual_options(model));
  const std::vector<DrawnStack> stacks = drawn_stacks(model);
  Json drawn = Json::array();
  for (const DrawnStack& stack : stacks)
    for (const InitLine& line : init_lines(row, stack)) {
      Json entry = Json::object();
      if (stacks.size() > 1) entry["stack"] = stack.shape.name;
      entry["what"] = line.what;
      entry["rule"] = line.rule;
      drawn.push_back(std::move(entry));
    }
  return Json{
      {"rule", row.init.name}, {"source", row.init.source}, {"drawn", drawn}, {"contained", Json(contained_init(row, stacks))}}
      .dump();
}

RunRecord new_run_record(std::string_view options) {
  return {.options = object_of(options, "new_run_record: options").dump(),
          .version = version(),
          .begun = utc_now(),
          .machine = machine_record().dump()};
}

void write_run_record(const RunFolder& run, const RunRecord& record) {
  RunRecord own = record;
  JsonWriter writer;
  fields(writer, own);
  writer.object["machine"] = object_of(record.machine, "write_run_record: machine");
  if (!record.baselines.empty()) writer.object["baselines"] = object_of(record.baselines, "write_run_record: baselines");
  if (!record.initialisation.empty())
    writer.object["initialisation"] = object_of(record.initialisation, "write_run_record: initialisation");
  writer.object["options"] = object_of(record.options, "write_run_record: options");
  make_folder(run.path);
  replace_text(run.record(), writer.object.dump(2) + "\n");
}

RunRecord read_run_record(const RunFolder& run) {
  const std::string where = run.record().string();
  Json json = object_of(small_text(run.record(), "the record of a run"), where);
  RunRecord record;
  const auto take = [&](const char* name, std::string& into) {
    const Json* found = json.find(name);
    if (!found) throw DataError(concat(where, ": lacks ", name, "; is it the record of a run?"));
    if (!found->is_object()) JsonAt{where, name}.wrong(*found, "an object");
    into = found->dump();
    json.erase(name);
  };
  take("options", record.options);
  take("machine", record.machine);
  if (json.contains("baselines")) take("baselines", record.baselines);
  if (json.contains("initialisation")) take("initialisation", record.initialisation);
  read(json, record, JsonAt{where, ""});
  return record;
}

std::vector<FieldDifference> differences(std::string_view before, std::string_view now) {
  return differing_fields(object_of(before, "differences: before"), object_of(now, "differences: now"));
}

std::vector<FieldDifference> differing_fields(const Json& before, const Json& now) {
  std::vector<FieldDifference> found;
  compare(before, now, "", found);
  return found;
}

}  // namespace addnorm
