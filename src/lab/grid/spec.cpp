// From the JSON form of a grid to its rows.
#include <algorithm>
#include <optional>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "addnorm/lab/grid.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/train/run_options.h"
#include "core/json/record.h"
#include "lab/grid/spec_json.h"
#include "train/run/options_json.h"

namespace addnorm {
namespace {

constexpr std::size_t kMostRows = 10000;
constexpr std::size_t kMostSeeds = 100;

Json ours_of_value(const std::string& name, const Json& value, const std::string& place, const FieldWords& words) {
  try {
    return value_in_our_words(name, value, place, words);
  } catch (const UsageError& error) {  // a name that is none
    throw DataError(concat(place, ": ", name, ": ", error.what()));
  }
}

/// {"warmup": 3} -> {"warmup_steps": 3}, each value one that the option can have.
Json options_in_our_words(const Json& given, const JsonAt& at, const FieldWords& words) {
  if (!given.is_object()) at.wrong(given, "an object of options like {\"layers\": 6, \"lr\": 0.001}");
  const std::string place = at.path.empty() ? std::string(at.where) : concat(at.where, ": ", at.path);
  Json all = Json::object();
  for (const auto& [name, value] : given.items()) {
    const std::string ours = option_named(name);
    if (all.contains(ours)) at.fail(at.path, ": ", ours, " is given twice, once as ", name);
    all[ours] = ours == "data" && value.is_string() ? Json::array({value}) : ours_of_value(name, value, place, words);
  }
  return all;
}

void put_over(Json& options, const Json& more) {
  if (more.contains("data")) options.erase("task");
  if (more.contains("task")) options.erase("data");
  for (const auto& [name, value] : more.items()) options[name] = value;
}

/// What a grid, or a part of it, says.
struct SpecPart {
  Json base = Json::object();
  std::size_t seeds = 3;
};

std::size_t read_seeds(const Json& json, const JsonAt& at) {
  std::size_t seeds = 0;
  read(json, seeds, at);
  if (seeds < 1 || seeds > kMostSeeds) at.wrong(json, concat("1 ... ", kMostSeeds));
  return seeds;
}

class SpecReader {
 public:
  SpecReader(std::string_view where, const FieldWords& words) : where_(where) { spec_.words = words; }

  GridSpec read_all(const Json& json) {
    const JsonAt at{where_, ""};
    if (!json.is_object()) at.fail("a grid is an object, like {\"grid\": {\"arrangement\": [\"post-ln\", \"pre-ln\"]}}");
    check_fields(json, at, {"name", "note", "base", "grid", "rows", "seeds", "acts", "with_warmup"});
    if (const Json* warmup = json.find("with_warmup")) read(*warmup, spec_.with_warmup, at.inside("with_warmup"));
    const bool own = json.contains("grid") || json.contains("rows") || !json.contains("acts");
    SpecPart whole = read_common(json, at, {});
    if (own) add_act(json, at, whole);
    if (const Json* acts = json.find("acts")) {
      const JsonAt inside = at.inside("acts");
      if (!acts->is_array() || acts->size() == 0) inside.wrong(*acts, "an array with one part or more");
      for (std::size_t i = 0; i < acts->size(); ++i) {
        const Json& act = (*acts)[i];
        const JsonAt here = inside.item(i);
        if (!act.is_object()) here.wrong(act, "an object with name, grid or rows");
        check_fields(act, here, {"name", "note", "base", "grid", "rows", "seeds"});
        add_act(act, here, read_common(act, here, whole));
      }
    }
    if (spec_.rows.empty()) at.fail("there is no row; say \"grid\": {\"arrangement\": [\"post-ln\", \"pre-ln\"]}, or \"rows\"");
    return std::move(spec_);
  }

 private:
  static void check_fields(const Json& json, const JsonAt& at, const Names& known) {
    for (const auto& [name, value] : json.items())
      if (std::ranges::find(known, name) == known.end())
        at.fail(unknown_name("field", at.inside(name).path, known), "\nOptions of runs stand in base, grid and rows");
  }

  /// A list of options, an empty one too, is taken as it is: a later check reports what is wrong with it in better words.
  static bool says_of_runs(const Json& json) {
    const Json* grid = json.find("grid");
    return json.contains("rows") || (grid != nullptr && !(grid->is_object() && grid->size() == 0));
  }

  [[noreturn]] static void fail_empty(const JsonAt& at) {
    at.fail(at.path, at.path.empty() ? "" : ": ",
            "nothing is said of any run. A grid has \"grid\" (lists of options, combined), \"rows\" (single ones) or \"acts\" "
            "(several of these), and \"base\" (options of all runs), e.g. {\"grid\": {\"arrangement\": [\"post-ln\", "
            "\"pre-ln\"], \"layers\": [6, 24]}}");
  }

  SpecPart read_common(const Json& json, const JsonAt& at, SpecPart part) const {
    if (const Json* seeds = json.find("seeds")) part.seeds = read_seeds(*seeds, at.inside("seeds"));
    if (const Json* base = json.find("base")) put_over(part.base, options_in_our_words(*base, at.inside("base"), spec_.words));
    return part;
  }

  void add_act(const Json& json, const JsonAt& at, const SpecPart& part) {
    GridAct act;
    if (const Json* name = json.find("name")) read(*name, act.name, at.inside("name"));
    if (const Json* note = json.find("note")) read(*note, act.note, at.inside("note"));
    spec_.acts.push_back(act);
    if (part.base.size() == 0 && !says_of_runs(json)) fail_empty(at);
    if (const Json* grid = json.find("grid")) add_combinations(*grid, at.inside("grid"), part);
    if (const Json* rows = json.find("rows")) {
      const JsonAt inside = at.inside("rows");
      if (!rows->is_array() || rows->size() == 0) inside.wrong(*rows, "an array with one object of options or more");
      for (std::size_t i = 0; i < rows->size(); ++i) add_single_row(part, (*rows)[i], inside.item(i));
    }
    if (!json.contains("grid") && !json.contains("rows")) add_row(part, Json::object(), at, false);
  }

  /// Options, and "seeds" where a row has its own number.
  void add_single_row(SpecPart part, Json own, const JsonAt& at) {
    if (own.is_object() && own.contains("seeds")) {
      part.seeds = read_seeds(own.at("seeds"), at.inside("seeds"));
      own.erase("seeds");
    }
    add_row(part, own, at, true);
  }

  void add_combinations(const Json& grid, const JsonAt& at, const SpecPart& part) {
    if (!grid.is_object()) at.wrong(grid, "an object of lists like {\"layers\": [6, 24]}");
    std::vector<Json> combinations{Json::object()};
    for (const auto& [name, values] : grid.items()) {
      const JsonAt here = at.inside(name);
      if (option_named(name) == "seed") here.fail(here.path, ": seeds are not listed; say \"seeds\": 3");
      if (values.is_array() && values.size() == 0) here.fail(here.path, " is empty; it must have one value or more");
      const Json list = values.is_array() ? values : Json::array({values});
      for (std::size_t i = 0; i < list.size(); ++i) options_in_our_words(Json{{name, list[i]}}, here.item(i), spec_.words);
      std::vector<Json> longer;
      const Json::Array each = without_repeats(name, list.array_items(), where_, spec_.words, spec_.notes);
      for (const Json& before : combinations)
        for (const Json& value : each) {
          Json with = before;
          put_over(with, options_in_our_words(Json{{name, value}}, here, spec_.words));
          longer.push_back(std::move(with));
          if (longer.size() > kMostRows) here.fail("more than ", kMostRows, " rows; make it several grids");
        }
      combinations = std::move(longer);
    }
    for (const Json& one : combinations) add_row(part, one, at, false);
  }

  void add_row(const SpecPart& part, const Json& own, const JsonAt& at, bool in_any_words) {
    Json options = part.base;
    put_over(options, in_any_words ? options_in_our_words(own, at, spec_.words) : own);
    GridRow row{.seeds = part.seeds, .act = spec_.acts.size() - 1};
    row.place = at.path.empty() ? std::string(where_) : concat(where_, ": ", at.path);
    if (!in_any_words && own.size() > 0) row.place += concat(" ", own.dump());  // which of the combinations
    if (const Json* seed = options.find("seed")) read(*seed, row.first_seed, at.inside("seed"));
    options.erase("seed");
    row.options = lab_options_of(std::move(options), row.place).dump();
    spec_.rows.push_back(std::move(row));
  }

  std::string_view where_;
  GridSpec spec_;
};

std::string plain_text(const Json& value) { return value.is_string() ? value.text() : value.dump(); }

}  // namespace

GridSpec grid_from_json(std::string_view text, std::string_view where, const FieldWords& words) {
  return grid_of(parsed(text, where), where, words);
}

GridSpec grid_of(const Json& spec, std::string_view where, const FieldWords& words) {
  return SpecReader(where, words).read_all(spec);
}

Json value_in_our_words(const std::string& name, const Json& value, std::string_view place, const FieldWords& words) {
  const ModelConfig model = run_options_of(Json{{name, value}}, place, words).options.model;
  if (!value.is_string()) return value;
  const std::string ours = option_named(name);
  return ours == "arrangement" ? Json(model.arrangement) : ours == "init" ? Json(model.init.rule) : value;
}

Json::Array without_repeats(const std::string& name, const Json::Array& values, std::string_view place, const FieldWords& words,
                            std::vector<std::string>& notes) {
  Json::Array all;
  for (const Json& value : values) {
    Json ours = value_in_our_words(name, value, place, words);
    if (std::ranges::find(all, ours) == all.end())
      all.push_back(std::move(ours));
    else
      notes.push_back(concat(called(words, option_named(name)), ": ", plain_text(value),
                             ours == value ? " stands there twice" : " is ",
                             ours == value ? "" : concat(plain_text(ours), ", which stands there too"), ", and is run once"));
  }
  return all;
}

}  // namespace addnorm
