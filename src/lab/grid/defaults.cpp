// What the lab runs when nothing is said, and what a row has where it says nothing.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "addnorm/lab/grid.h"
#include "addnorm/train/run_options.h"
#include "core/json/record.h"
#include "lab/grid/changes.h"
#include "lab/grid/spec_json.h"
#include "train/run/options_json.h"

namespace addnorm {
namespace {

constexpr std::size_t kLabSteps = 300, kLabWidth = 64;

bool goes_with(const Json& options, std::string_view where) {
  try {
    require_used(run_options_of(options, where));
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

bool is_adam(const Json& options) {
  const Json* kind = options.find("optimizer");
  return kind == nullptr || *kind == "adam" || *kind == "adamw" || *kind == "radam";
}

/// Rates of the lab are those of Adam; others have their own usual ones. Sequences of pairs are as long as the data says.
Json what_the_lab_says(const Json& options) {
  const Json* model = options.find("model");
  const bool text = model == nullptr || *model == "lm" || *model == "encoder";
  Json defaults{{"steps", kLabSteps},     {"layers", 12},      {"batch_size", 8}, {"optimizer", "adam"},
                {"schedule", "constant"}, {"warmup_steps", 0}, {"probes", "on"}};
  if (is_adam(options)) defaults["lr"] = 1e-3;
  if (!options.contains("d_model")) defaults["d_model"] = kLabWidth;
  if (!options.contains("d_model") && !options.contains("heads")) defaults["heads"] = 2;
  if (text) defaults["seq_len"] = 64;
  if (!options.contains("eval_every") && !options.contains("eval_samples")) defaults["validation"] = 0;
  return defaults;
}

}  // namespace

Json lab_options_of(Json all, std::string_view where) {
  run_options_of(all, where);  // invalid options are refused as they were given
  const Json defaults = what_the_lab_says(all);
  for (const auto& [name, value] : defaults.items()) {
    if (all.contains(name)) continue;
    Json with = all;
    with[name] = value;
    if (goes_with(with, where)) all = std::move(with);
  }
  if (!all.contains("save_every")) all["save_every"] = all.contains("steps") ? all["steps"] : Json(kLabSteps);
  return all;
}

std::string with_lab_defaults(std::string_view options, std::string_view where) {
  return lab_options_of(parsed(options, where), where).dump();
}

std::vector<std::string> lab_arrangements() { return {"plain", "post-ln", "norm-skip", "pre-ln", "deepnorm", "rezero"}; }

namespace {

/// The placements on which the sentence on top rests, with the seeds that it needs, and the others with one.
Json rows_of_act(std::initializer_list<const char*> three_seeds, std::initializer_list<const char*> one_seed) {
  Json rows = Json::array();
  for (const char* name : three_seeds) rows.push_back(Json{{"arrangement", name}});
  for (const char* name : one_seed) rows.push_back(Json{{"arrangement", name}, {"seeds", 1}});
  return rows;
}

Json act(std::string name, Json base, Json rows) {
  return Json{{"name", std::move(name)}, {"base", std::move(base)}, {"rows", std::move(rows)}};
}

}  // namespace

GridSpec default_lab(std::string_view base) { return default_lab_of(parsed(base, "options")); }

GridSpec default_lab_of(const Json& base) {
  const GivenOptions given = run_options_of(base, "options");
  const std::size_t steps = given.given.contains("steps") ? given.options.steps : kLabSteps;
  const std::size_t warmup = warmup_to_try(steps);
  const std::size_t width = given.given.contains("d_model") ? given.options.model.d_model : kLabWidth;
  const double as_xavier = 1 / std::sqrt(static_cast<double>(std::max<std::size_t>(width, 1)));
  const Json cold{{"layers", 12}, {"warmup_steps", 0}};
  const auto from = [&](const char* init) {
    Json options = cold;
    options["init"] = init;
    return options;
  };
  Json warm = from("xavier"), large_embeddings = from("gpt2");
  warm["warmup_steps"] = warmup;
  large_embeddings["embedding_std"] = as_xavier;
  Json spec{{"base", base}};
  Json acts = Json::array();
  const auto add = [&](const std::string& what, Json options, Json rows) {
    acts.push_back(act(concat("Act ", acts.size() + 1, ": ", what), std::move(options), std::move(rows)));
  };
  add("12 layers, no warm-up, Xavier's weights", from("xavier"),
      rows_of_act({"post-ln", "norm-skip", "pre-ln"}, {"plain", "deepnorm", "rezero"}));
  add("the same from GPT-2's weights", from("gpt2"), rows_of_act({}, {"post-ln", "norm-skip", "pre-ln", "plain"}));
  if (given.options.model.model != ModelKind::mlp)  // which has no embeddings
    add("GPT-2's weights, embeddings as large as Xavier's", large_embeddings,
        rows_of_act({"post-ln", "norm-skip"}, {"pre-ln", "plain"}));
  add(concat("Xavier's weights, ", warmup, " warm-up steps"), warm, rows_of_act({"post-ln"}, {"norm-skip"}));
  spec["acts"] = std::move(acts);
  return grid_of(spec, "the default lab");
}

}  // namespace addnorm
