#include "lab/grid/plan.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "addnorm/core/machine.h"
#include "addnorm/core/version.h"
#include "addnorm/model/stack.h"
#include "addnorm/residual/explain.h"
#include "addnorm/residual/residual.h"
#include "addnorm/train/memory.h"
#include "core/checksum.h"
#include "core/file.h"
#include "core/json/record.h"
#include "lab/grid/changes.h"
#include "train/run/options_json.h"
#include "train/run/prepared_run.h"

namespace addnorm {
namespace {

/// What the opened data depends on.
std::string data_key(const RunOptions& o) {
  return Json{{"data", Json(o.data)},           {"task", o.task},         {"tokenizer", o.tokenizer},   {"label", o.label},
              {"validation", o.validation},     {"truncate", o.truncate}, {"seq_len", o.model.seq_len}, {"seed", o.seed},
              {"model", name_of(o.model.model)}}
      .dump();
}

std::string hashed(const std::string& text) { return as_hex(checksum(text.data(), text.size())); }

/// For a name of a folder: letters, digits and some signs.
std::string as_file_name(std::string text) {
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '+') c = '-';
  return text.substr(0, 40);
}

std::string short_name(const RunOptions& o) {
  const std::string start = o.model.init.by_arrangement() ? "" : o.model.init.rule + "-";
  return concat(as_file_name(o.model.arrangement), "-", o.model.layers, "L-", start, "lr", Json(o.lr).dump(), "-wu",
                o.warmup_steps.value_or(0), "-s", o.seed);
}

/// What a run costs beside others.
double work_of(const RunOptions& o) {
  const double tokens = static_cast<double>(o.batch_size * o.grad_accum * std::max<std::size_t>(o.model.seq_len, 1));
  return static_cast<double>(o.steps) * tokens * static_cast<double>(o.model.layers) * static_cast<double>(o.model.d_model);
}

/// One option in the words of a label.
std::string option_in_words(const std::string& name, const Json& value) {
  const std::string text = value.is_string() ? value.text() : value.dump();
  if (name == "arrangement") return text;
  if (name == kWeights) return text;
  if (name == kEmbeddings) return "embeddings " + text;
  if (name == "layers") return text + (text == "1" ? " layer" : " layers");
  if (name == "warmup_steps") return text == "0" ? "no warm-up" : text + (text == "1" ? " warm-up step" : " warm-up steps");
  if (name == "optimizer" || name == "norm" || name == "schedule" || name == "model" || name == "task") return text;
  std::string words = name;
  std::ranges::replace(words, '_', '-');
  return words + " " + text;
}

/// The asked options of a row, with how its weights start in the words of StartText. An own_arrangement has a name.
Json options_for_label(const RowResult& row) {
  Json options = parsed(row.row.options, row.row.place);
  for (const std::string_view name : kStartOptions) options.erase(name);
  options.erase("own_arrangement");
  if (!row.start.weights.empty()) options[kWeights] = row.start.weights_in_words;
  if (!row.start.embeddings.empty()) options[kEmbeddings] = row.start.embeddings;
  return options;
}

/// Names of what is not the same in all of them, in their order.
Names differing(const std::vector<Json>& options) {
  Names names, looked_at;
  for (const Json& one : options)
    for (const auto& [name, value] : one.items()) {
      if (std::ranges::find(looked_at, name) != looked_at.end()) continue;
      looked_at.push_back(name);
      const auto differs = [&, key = name, here = &value](const Json& other) {
        const Json* there = other.find(key);
        return there == nullptr || !(*here == *there);
      };
      if (std::ranges::any_of(options, differs)) names.push_back(name);
    }
  return names;
}

/// Options in which the rows differ, in their order; not those without effect on what is learned.
Names differing_options(const std::vector<RowResult*>& rows) {
  std::vector<Json> options;
  for (const RowResult* row : rows) options.push_back(options_for_label(*row));
  Names names = differing(options);
  std::erase_if(names, [](const std::string& name) { return name == "arrangement" || (may_change(name) && name != "steps"); });
  return names;
}

std::string label_of(const RowResult& row, const Names& names) {
  const Json options = options_for_label(row);
  std::string label = row.arrangement;
  for (const std::string& name : names)
    if (name == kWeights && options.contains(name))
      label += ", " + row.start.weights_in_label;
    else if (const Json* said = options.find(name))
      label += ", " + option_in_words(name, *said);
  return label;
}

/// All that was asked for, the first seed too.
Json asked_of(const RowResult& row) {
  Json options = parsed(row.row.options, row.row.place);
  options["seed"] = row.row.first_seed;
  return options;
}

/// Rows that read the same and have not the same runs get what else was asked for otherwise: "seed 7", "branch-scale 0.5001".
void distinguish(std::vector<RowResult*> rows, std::string RowResult::*label) {
  std::map<std::string, std::vector<RowResult*>> alike;
  for (RowResult* row : rows) alike[row->*label].push_back(row);
  for (const auto& [text, twins] : alike) {
    std::vector<Json> asked;
    std::vector<std::vector<std::size_t>> seen;
    for (const RowResult* row : twins)
      if (std::ranges::find(seen, row->runs) == seen.end()) {
        seen.push_back(row->runs);
        asked.push_back(asked_of(*row));
      }
    const Names names = differing(asked);
    for (RowResult* row : twins) {
      const Json options = asked_of(*row);
      for (const std::string& name : names)
        if (name == "own_arrangement")
          row->*label += concat(", row of ", row->row.place);
        else if (const Json* said = options.find(name))
          row->*label += ", " + option_in_words(name, *said);
    }
  }
}

}  // namespace

GridPlanner::GridPlanner(std::filesystem::path folder, std::filesystem::path cache, std::function<bool()> go_on)
    : folder_(std::move(folder)), cache_(std::move(cache)), go_on_(std::move(go_on)) {}

std::string GridPlanner::run_options(const GridRow& row, std::uint64_t seed) {
  Json options = parsed(row.options, row.place);
  options["seed"] = seed;
  return options.dump(2) + "\n";
}

GridPlanner::Opened& GridPlanner::opened_for(const RunOptions& options) {
  require(options.data != std::vector<std::string>{"-"}, called(options.words, "data"),
          " is -; a grid cannot read the standard input, since every run has to. Write it to a file first");
  const std::string key = data_key(options);
  if (const auto known = opened_.find(key); known != opened_.end()) return known->second;
  Opened opened{.source = open_source(options, cache_, [this](double) { return go_on_(); }), .baselines = {}};
  if (!opened.source) throw Error("stopped while the data was read");
  return opened_.emplace(key, std::move(opened)).first->second;
}

RunOptions GridPlanner::planned_for(const GivenOptions& given, Opened& opened) {
  RunOptions options = options_for_data(given, *opened.source);
  MemoryEstimate memory = estimate_memory(options.model, {.optimizer = options.optimizer.kind,
                                                          .batch_size = options.batch_size,
                                                          .accumulate = options.grad_accum,
                                                          .recompute = options.recompute});
  require_fits(memory, available_memory(), options.words);
  largest_ = std::max(largest_, memory.needed());
  if (!opened.baselines) {
    const RunData data = opened.source->datasets(options);
    opened.baselines = data.baselines ? *data.baselines : label_baselines(*data.train);
  }
  return options;
}

/// Another run that has this name (options that differ, the same six digits) keeps it; this one gets all sixteen.
std::filesystem::path GridPlanner::folder_for(const RunOptions& options, const std::string& key,
                                              const std::string& config) const {
  const std::filesystem::path brief = folder_ / concat(short_name(options), "-", key.substr(0, 6));
  const std::filesystem::path there = brief / "options.json";
  if (!is_there(there) || small_text(there, "a file of options") == config) return brief;
  return folder_ / concat(short_name(options), "-", key);
}

void GridPlanner::add_runs(const GridRow& row, const GivenOptions& given, Opened& opened, GridResult& result,
                           RowResult& planned_row) {
  for (std::size_t i = 0; i < row.seeds; ++i) {
    GivenOptions one = given;
    one.options.seed = row.first_seed + i;
    const RunOptions options = planned_for(one, opened);
    const std::string fingerprint = as_hex(opened.source->fingerprint());
    const std::string key = hashed(Json{{"options", json_of(options)}, {"data", fingerprint}, {"version", version()}}.dump());
    Json alike = json_of(options);
    for (const std::string_view name : kStartOptions) alike.erase(name);
    const std::string all = concat(alike.dump(), start_key(planned_row.start), fingerprint);
    const auto [known, fresh] = alike_.emplace(all, result.runs.size());
    planned_row.runs.push_back(known->second);
    if (!fresh) continue;
    result.runs.push_back({.seed = options.seed, .key = key, .steps = options.steps, .work = work_of(options)});
    result.runs.back().warmup = options.warmup_steps.value_or(0);
    result.runs.back().folder = folder_for(options, key, run_options(row, options.seed));
  }
}

void GridPlanner::add(const GridRow& row, GridResult& result) {
  const auto rethrow = [&]<class Kind>(const Kind& error) {
    const std::string what = error.what();
    throw Kind(what.starts_with(row.place) ? what : concat(row.place, ": ", what));
  };
  try {
    GivenOptions given = run_options_from_json(row.options, row.place, result.spec.words);
    given.options.seed = row.first_seed;
    given.given.insert("seed");
    require_used(given);
    Opened& opened = opened_for(given.options);
    const RunOptions options = planned_for(given, opened);
    RowResult planned_row{.row = row, .options = to_json(options), .arrangement = options.model.arrangement};
    const Arrangement arrangement = with_options(arrangement_of(options.model), residual_options(options.model));
    const StackShape shape = first_stack_shape(options.model);
    planned_row.formula = units_text(formula_of(arrangement, shape, norm_of(options.model)));
    if (const auto gain = skip_gain(arrangement, shape, NormalInit::with_its_gains)) planned_row.skip_gain_predicted = gain->gain;
    planned_row.start = start_text(options.model);
    planned_row.baselines = *opened.baselines;
    add_runs(row, given, opened, result, planned_row);
    result.rows.push_back(std::move(planned_row));
  } catch (const UsageError& error) {
    rethrow(error);
  } catch (const DataError& error) {
    rethrow(error);
  } catch (const Error& error) {  // it does not fit into memory
    rethrow(error);
  }
}

void GridPlanner::label(GridResult& result) {
  std::vector<RowResult*> all;
  for (RowResult& row : result.rows) all.push_back(&row);
  Names names = differing_options(all);
  if (std::ranges::find(names, "layers") == names.end()) names.insert(names.begin(), "layers");
  for (RowResult* row : all) row->label = label_of(*row, names);
  distinguish(all, &RowResult::label);
  for (std::size_t act = 0; act < result.spec.acts.size(); ++act) {
    std::vector<RowResult*> part;
    for (RowResult* row : all)
      if (row->row.act == act && !row->instead_of) part.push_back(row);
    const Names inside = differing_options(part);
    for (RowResult* row : part) row->label_in_act = label_of(*row, inside);
    distinguish(part, &RowResult::label_in_act);
  }
  for (RowResult* row : all)
    if (row->instead_of || result.spec.acts[row->row.act].name.empty()) row->label_in_act = row->label;
}

int GridPlanner::fit_at_once() const {
  const double room = static_cast<double>(available_memory().bytes);
  return static_cast<int>(std::clamp(std::floor(room / std::max(largest_, 1.0)), 1.0, 1024.0));
}

}  // namespace addnorm
