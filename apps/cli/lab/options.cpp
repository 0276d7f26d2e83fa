// The options of `lab` and `depth`: those of `train`, where each may be a list.
#include <algorithm>
#include <array>
#include <iostream>
#include <set>

#include "addnorm/core/names.h"
#include "addnorm/train/run_options.h"
#include "cli/lab/lab.h"
#include "cli/models/run_model.h"
#include "cli/terminal/value.h"
#include "cli/train/options.h"
#include "core/file.h"
#include "core/json/record.h"
#include "lab/grid/spec_json.h"
#include "train/run/options_json.h"

namespace addnorm::cli {
namespace {

using Kind = OptionText::Value;

Json item_value(Kind kind, const std::string& text) {
  if (kind == Kind::whole) return parse_value<std::uint64_t>(text);
  if (kind == Kind::number) return parse_value<double>(text);
  return parse_value<std::string>(text);
}

std::string value_text(Kind kind, bool lists) {
  const char* const one = kind == Kind::whole ? " N" : kind == Kind::number ? " X" : kind == Kind::texts ? " PATH" : " NAME";
  return concat(one, lists || kind == Kind::texts ? ",..." : "");
}

/// The explanation of `train`, with the value that a row of the lab has where nothing is said.
std::string lab_help(const OptionText& option, const Json& defaults) {
  const Json* value = defaults.find(option.name);
  if (value == nullptr) return option.help;
  const std::string plain = option.help.substr(0, option.help.rfind(" (default"));
  return concat(plain, " (default here: ", value->is_string() ? value->text() : value->dump(), ")");
}

/// What was given for each option, checked and each value once. Complaints name the option.
Json checked_lists(const Json& given, std::vector<std::string>& notes) {
  Json lists = Json::object();
  for (const auto& [name, values] : given.items()) {
    for (const Json& value : values.array_items())
      check_rule(run_options_of(Json{{name, value}}, option_name(name)).options.model.init, option_word);
    lists[name] = Json(without_repeats(name, values.array_items(), option_name(name), option_word, notes));
  }
  return lists;
}

Json singles_of(const Json& lists) {
  Json all = Json::object();
  for (const auto& [name, values] : lists.items())
    if (values.size() == 1) all[name] = values[0];
  return all;
}

void print_renamed_inits(const Json& lists) {
  const Json* inits = lists.find("init");
  if (!inits) return;
  for (const Json& init : inits->array_items())
    if (const std::string note = renamed_init(init.text()); !note.empty()) std::cerr << "note: " << note << '\n';
}

/// What is left out of the row for it; "": nothing.
std::string put_into_row(GridRow& row, const Json& more) {
  Json options = parsed(row.options, row.place);
  if (more.contains("data")) options.erase("task");
  if (more.contains("task")) options.erase("data");
  for (const auto& [name, value] : more.items()) options[name] = value;
  std::string note = leave_out_deviation(options, more);
  if (const Json* seed = options.find("seed")) row.first_seed = seed->whole();
  options.erase("seed");
  if (more.contains("steps")) options["save_every"] = options["steps"];
  row.options = lab_options_of(options, row.place).dump();
  return note;
}

/// The same of every row of a file; each note once.
void put_into_rows(GridSpec& spec, const Json& more, const std::filesystem::path& file) {
  std::set<std::string> notes;
  for (GridRow& row : spec.rows)
    if (std::string note = put_into_row(row, more); !note.empty()) notes.insert(std::move(note));
  for (const std::string& note : notes) std::cerr << "note: " << file.string() << ": " << note << '\n';
}

/// Options that the rows of the default lab set themselves: giving one of them asks for another grid.
constexpr std::array kSaidByActs{"arrangement", "layers",        "warmup_steps", "init",
                                 "init_std",    "embedding_std", "position_std", "branch_scale"};

/// Every combination of the lists. Rows of one start stand together, below a heading where there are several.
GridSpec combinations_of(const Json& base, const Json& lists, bool usual_arrangements) {
  Json all = Json::object(), acts = Json::array();
  if (usual_arrangements) all["arrangement"] = Json(lab_arrangements());
  for (const auto& [name, values] : lists.items())
    if (name != "init") all[name] = values;
  const Json* inits = lists.find("init");
  if (inits == nullptr) return grid_of(Json{{"base", base}, {"grid", all}}, "options", option_word);
  for (const Json& init : inits->array_items())
    acts.push_back(Json{{"name", concat("init ", init.text())}, {"base", Json{{"init", init}}}, {"grid", all}});
  return grid_of(Json{{"base", base}, {"acts", acts}}, "options", option_word);
}

}  // namespace

struct GridCollector::Impl {
  Json lists = Json::object();  // of every option that was given: the values
};

GridCollector::GridCollector() : impl_(std::make_shared<Impl>()) {}
GridCollector::~GridCollector() = default;

void GridCollector::declare(Command& command, bool lists) {
  for (const auto& [theirs, ours] : other_option_names()) command.also_named(option_name(theirs), option_name(ours));
  for (const auto& [theirs, instead] : missing_options(option_word)) command.answer(option_name(theirs), instead);
  command.also_named("--arrangements", "--arrangement");
  command.also_named("--inits", "--init");
  const std::shared_ptr<Impl> impl = impl_;
  const auto add = [impl](const std::string& key, Json value) {
    if (!impl->lists.contains(key)) impl->lists[key] = Json::array();
    impl->lists[key].push_back(std::move(value));
  };
  Json defaults = lab_options_of(Json::object(), "defaults");
  defaults.erase("save_every");
  if (!lists) defaults.erase("layers");
  std::vector<OptionText> texts = option_texts(option_word);
  for (OptionText& option : texts) {
    const std::string name = option_name(option.name);
    const auto flag = [&, key = option.name](const std::string& spelled, const std::string& help, bool value) {
      command.flag(
          spelled, help, [add, key, value] { add(key, value); }, option.group);
    };
    if (option.value == Kind::flag || option.value == Kind::yes_no) {
      flag(name, option.help, true);
      if (option.value == Kind::yes_no) flag(option_name("no_" + option.name), "the opposite", false);
      continue;
    }
    if (option.name == "arrangement" && lists)
      option.help = "where add and norm stand; 'addnorm arrangements' lists them (default: those of act 1)";
    if (option.name == "layers" && !lists) option.help = "what is looked for: leave it out";
    const auto take = [add, impl, key = option.name, kind = option.value](const std::string& text) {
      if (kind != Kind::texts) {
        for (const std::string& item : list_items(text)) add(key, item_value(kind, item));
        return;
      }
      if (!impl->lists.contains(key)) impl->lists[key] = Json::array({Json::array()});
      Json files = impl->lists[key].array_items().front();  // several files are one data set
      for (const std::string& item : path_items(text)) files.push_back(item);
      impl->lists[key] = Json::array({files});
    };
    command.given(name + value_text(option.value, lists), lab_help(option, defaults), take, option.group, true);
  }
}

GridSpec GridCollector::spec(const std::filesystem::path& file, std::optional<std::size_t> seeds, std::size_t with_warmup) const {
  try {
    std::vector<std::string> notes;
    print_renamed_inits(impl_->lists);
    const Json lists = checked_lists(impl_->lists, notes), base = singles_of(lists);
    Json grid = Json::object();
    for (const auto& [name, values] : lists.items())
      if (values.size() > 1) grid[name] = values;
    GridSpec spec;
    if (!file.empty()) {
      require(grid.size() == 0, "a list of values beside --grid: say it in ", file.string());
      spec = grid_from_json(small_text(file, "a grid"), file.string(), option_word);
      if (base.size() > 0) put_into_rows(spec, base, file);
    } else {
      const auto named = [&](const char* name) { return base.contains(name) || grid.contains(name); };
      const bool acts = std::ranges::none_of(kSaidByActs, named);
      spec = grid.size() == 0 && acts ? default_lab_of(base) : combinations_of(base, grid, !named("arrangement"));
    }
    spec.notes.insert(spec.notes.end(), notes.begin(), notes.end());
    if (seeds)
      for (GridRow& row : spec.rows) row.seeds = *seeds;
    if (with_warmup > 0) spec.with_warmup = with_warmup;
    return spec;
  } catch (const DataError& error) {  // how the tool was called, not what it works on
    throw UsageError(error.what());
  }
}

std::string GridCollector::one(const std::vector<std::string>& without) const {
  try {
    std::vector<std::string> notes;
    const Json lists = checked_lists(impl_->lists, notes);
    for (const auto& [name, values] : lists.items()) {
      require(values.size() == 1, option_name(name), " has ", values.size(), " values; here it takes one");
      require(std::ranges::find(without, name) == without.end(), option_name(name), " is what is looked for; leave it out");
    }
    print_renamed_inits(impl_->lists);
    return singles_of(lists).dump();
  } catch (const DataError& error) {
    throw UsageError(error.what());
  }
}

void GridPlace::declare(Command& command) {
  command.option("--out PATH", out, "folder of all runs; what is done there already is not run again");
  command.option("--threads N", threads, concat("at most so many for all runs together; ", kThreadsByDefault));
  command.option("--at-once N", at_once, "runs at a time; 0: one per thread, as far as memory goes");
  command.option("--cache PATH", cache, "folder for tokenised text (default: addnorm in the user's cache folder)");
  command.option("--json", json, "the result as JSON on stdout");
}

/// This program again: `addnorm train ...` for a run, `addnorm lab predict IN OUT` for a prediction.
GridProgram this_program() {
  GridProgram tool;
  tool.path = "/proc/self/exe";  // in a forked child still the program that runs here, also where its file was replaced meanwhile
  tool.train = [](const GridTraining& asked) -> std::vector<std::string> {
    return {"train",
            "--config",
            asked.options.string(),
            "--out",
            asked.folder.string(),
            "--resume-or-start",
            "--quiet",
            "--no-report",
            "--threads",
            std::to_string(asked.threads),
            "--cache",
            asked.cache.string()};
  };
  tool.predict = [](const GridPrediction& asked) -> std::vector<std::string> {
    return {"lab", "predict", asked.question.string(), asked.answer.string(), "--threads", std::to_string(asked.threads)};
  };
  tool.complaints = {"addnorm train: ", "addnorm lab predict: "};
  return tool;
}

GridRequest GridPlace::request(GridSpec spec) const {
  require(at_once >= 0, "--at-once is ", at_once, "; it must be 0 or more");
  GridRequest request{
      .spec = std::move(spec), .folder = out, .program = this_program(), .cache = cache.empty() ? default_cache() : cache};
  request.spec.words = option_word;
  request.threads = threads_for(threads);
  request.at_once = at_once;
  return request;
}

}  // namespace addnorm::cli
