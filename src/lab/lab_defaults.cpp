// What the lab runs when nothing is said, and what a row has where it says nothing.
#include <algorithm>

#include "addnorm/lab/grid.h"
#include "addnorm/train/run_options.h"
#include "core/json_record.h"

namespace addnorm {
namespace {

constexpr std::size_t kLabSteps = 300, kLabWarmup = 200;

bool goes_with(const Json& options, std::string_view where) {
  try {
    require_used(run_options_from_json(options.dump(), where));
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
  if (!options.contains("d_model")) defaults["d_model"] = 64;
  if (!options.contains("d_model") && !options.contains("heads")) defaults["heads"] = 2;
  if (text) defaults["seq_len"] = 64;
  if (!options.contains("eval_every") && !options.contains("eval_samples")) defaults["validation"] = 0;
  return defaults;
}

}  // namespace

std::string with_lab_defaults(std::string_view options, std::string_view where) {
  Json all = parsed(options, where);
  run_options_from_json(options, where);  // nonsense is told as nonsense
  const Json defaults = what_the_lab_says(all);
  for (const auto& [name, value] : defaults.items()) {
    if (all.contains(name)) continue;
    Json with = all;
    with[name] = value;
    if (goes_with(with, where)) all = std::move(with);
  }
  if (!all.contains("save_every")) all["save_every"] = all.contains("steps") ? all["steps"] : Json(kLabSteps);
  return all.dump();
}

std::vector<std::string> lab_arrangements() { return {"plain", "post-ln", "norm-skip", "pre-ln", "deepnorm", "rezero"}; }

GridSpec default_lab(std::string_view base) {
  const GivenOptions given = run_options_from_json(base, "options");
  const std::size_t steps = given.given.contains("steps") ? given.options.steps : kLabSteps;
  const std::size_t warmup = std::min(kLabWarmup, steps * 2 / 3);
  const auto in_words = concat(warmup, " warm-up steps");
  const auto row = [&](const char* name, std::size_t warm) { return Json{{"arrangement", name}, {"warmup_steps", warm}}; };
  Json spec{{"base", parsed(base, "options")}};
  spec["acts"] = Json::array({
      Json{{"name", "Act 1: 12 layers, no warm-up"},
           {"base", Json{{"layers", 12}, {"warmup_steps", 0}}},
           {"grid", Json{{"arrangement", Json(lab_arrangements())}}}},
      Json{{"name", concat("Act 2: 12 layers, ", in_words)},
           {"base", Json{{"layers", 12}, {"warmup_steps", warmup}}},
           {"grid", Json{{"arrangement", Json::array({"post-ln", "norm-skip"})}}}},
      Json{{"name", "Act 3: 24 layers"},
           {"note", "one seed: these losses have no spread"},
           {"seeds", 1},
           {"base", Json{{"layers", 24}}},
           {"rows", Json::array({row("post-ln", warmup), row("pre-ln", 0), row("deepnorm", 0)})}},
  });
  return grid_from_json(spec.dump(), "the default lab");
}

}  // namespace addnorm
