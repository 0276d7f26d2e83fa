#include "report/records.h"

#include "addnorm/core/error.h"
#include "report/curve.h"
#include "report/numbers.h"
#include "report/record_file.h"
#include "report/record_shapes.h"

namespace addnorm {
namespace {

Json without_folders(const Json& value) {
  if (value.is_string() && value.text().starts_with('/')) return last_part(value.text());
  if (!value.is_array()) return rounded_copy(value);
  Json all = Json::array();
  for (const Json& item : value.array_items()) all.push_back(without_folders(item));
  return all;
}

}  // namespace

void CountedProblem::add(const std::string& what) {
  if (!what.empty() && count_++ == 0) first_ = what;
}

void CountedProblem::report(const std::string& consequence, Problems& problems) const {
  if (count_ == 0) return;
  problems.push_back(concat(first_, count_ > 1 ? concat(" (and ", count_ - 1, " more like it)") : "", "; ", consequence));
}

Json options_record(const Json& options) {
  Json all = Json::object();
  if (options.is_object())
    for (const auto& [name, value] : options.items()) all[name] = without_folders(value);
  return all;
}

Json train_record(const Json& run, const std::string& name, const std::filesystem::path& folder, std::size_t points,
                  Problems& problems) {
  const Json* options = run.find("options");
  if (options == nullptr || !options->is_object())
    throw DataError(concat((folder / "run.json").string(), ": no options in it; this is not the record of a run"));
  Json out = shaped(run, kTrain);
  out["name"] = name;
  out["options"] = options_record(*options);
  out["curve"] = Json{{"step", Json::array()}, {"loss", Json::array()}};

  const std::filesystem::path file = folder / "metrics.jsonl";
  try {
    const Metrics metrics = read_metrics(file);
    put_curves(metrics, block_ends(metrics, points), true, out);
    if (!metrics.stopped.empty()) out["stopped"] = metrics.stopped;
    Json losses = Json::array();
    for (const double loss : metrics.validation_losses) losses.push_back(rounded(loss));
    if (losses.size() > 0)
      out["validation"] = shorter_curve(Json{{"step", Json(metrics.validation_steps)}, {"loss", losses}}, points);
    double seconds = 0, tokens = 0;
    for (const StepMetrics& step : metrics.steps) seconds += step.seconds, tokens += step.tokens;
    out["tokens_per_second"] = rounded(tokens / seconds);
    if (metrics.flaws.any()) problems.push_back(concat(file.string(), ": ", metrics.flaws.text(), "; the other lines are shown"));
  } catch (const DataError& error) {
    problems.push_back(concat(error.what(), "; the run is shown without its curves"));
  }
  return out;
}

Json preflight_record(const Json& result, const std::string& name, const std::string& where) {
  if (text_in(result, "verdict").empty() || !result.contains("reason"))
    throw DataError(concat(where, ": no verdict with a reason in it; this is not what 'addnorm preflight --json' prints"));
  Json out = shaped(result, kPreflight);
  out["name"] = name;
  if (const Json* options = result.find("options")) out["options"] = options_record(*options);
  return out;
}

Json xray_record(const Json& result, const std::string& name, const std::string& where) {
  const Json* stacks = result.find("stacks");
  if (stacks == nullptr || !stacks->is_array() || stacks->size() == 0)
    throw DataError(concat(where, ": no stacks in it; this is not what 'addnorm xray --json' prints"));
  Json out = shaped(result, kXray);
  out["name"] = name;
  if (const Json* text = out.find("text"); text != nullptr && text_in(*text, "source").starts_with('/'))
    out["text"]["source"] = last_part(text_in(*text, "source"));
  return out;
}

Json claim_record(const Json& claim, const std::string& where) {
  for (const char* name : {"id", "claim", "verdict"})
    if (text_in(claim, name).empty())
      throw DataError(concat(where, ": no text \"", name, "\" in it; this is not the result of a claim"));
  return shaped(claim, kClaim);
}

}  // namespace addnorm
