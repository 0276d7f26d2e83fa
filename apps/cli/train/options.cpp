#include "cli/train/options.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <type_traits>

#include "addnorm/core/error.h"
#include "addnorm/lab/grid_result.h"
#include "addnorm/model/hugging_face.h"
#include "addnorm/model/stack.h"
#include "addnorm/train/run_folder.h"
#include "cli/terminal/value.h"
#include "core/file.h"
#include "core/json/record.h"
#include "train/run/options_json.h"

namespace addnorm::cli {
namespace {

const char* value_text(OptionText::Value value) {
  switch (value) {
    case OptionText::Value::whole:
      return " N";
    case OptionText::Value::number:
      return " X";
    case OptionText::Value::texts:
      return " PATH,...";
    default:
      return " NAME";
  }
}

Json value_of(OptionText::Value value, const std::string& text) {
  switch (value) {
    case OptionText::Value::whole:
      return parse_value<std::uint64_t>(text);
    case OptionText::Value::number:
      return parse_value<double>(text);
    case OptionText::Value::texts:
      return path_items(text);  // --data alone
    default:
      return parse_value<std::string>(text);
  }
}

/// A model of Hugging Face, with its own initialisation. Vocabularies are those of the data.
Json hugging_face_options(const std::string& text, const std::string& where, std::vector<std::string>& notes) {
  const HuggingFaceConfig read = hugging_face_config(text, where);
  notes = read.notes;
  if (read.config.vocab > 0) notes.push_back(concat("the vocabulary is that of the data here, ", read.config.vocab, " there"));
  ModelConfig config = with_own_init(read);
  config.head = true;                             // there is something to be learned
  Json options = parsed(to_json(config), where);  // without what is as our defaults are
  options["layers"] = config.layers;              // set explicitly: they would be planned from the data otherwise
  options["d_model"] = config.d_model;
  options["heads"] = config.heads;
  options["seq_len"] = config.seq_len;
  for (const char* name : {"vocab", "target_vocab", "classes"}) options.erase(name);
  return options;
}

/// The options in a file: all of it, or what a run wrote down.
Json options_in(const std::filesystem::path& file, std::vector<std::string>& notes) {
  const std::string where = file.string(), text = small_text(file, "a file of options");
  if (is_hugging_face_config(text)) return hugging_face_options(text, where, notes);
  Json all = parsed(text, where);
  if (all.is_object() && all.contains("model_type") && all["model_type"] == "addnorm")  // config.json of a trained model
    return repeated_options(std::move(all), where, option_word);
  if (!all.is_object() || !all.contains("options") || !all["options"].is_object()) return all;
  Json options = repeated_options(all["options"], where, option_word);
  const RunFolder run{file.parent_path()};
  const Json tokenizer = options.contains("tokenizer") ? options.at("tokenizer") : Json("auto");
  if (tokenizer != "auto" && tokenizer != "bytes" && tokenizer != "chars")
    options["tokenizer"] = run.tokenizer().string();  // its own copy: there from any folder
  const Json standard_input = Json::array({"-"});
  if (!options.contains("data")) return options;
  if (options["data"] == standard_input)
    options["data"] = Json::array({run.input().string()});
  else if (all.contains("data_paths"))  // the same files from any folder
    options["data"] = all["data_paths"];
  return options;
}

/// Takes a field that is the command's own; what the command line said stays.
template <class T>
void take(Json& options, const char* name, bool said, T& value, const JsonAt& at) {
  if (!options.is_object() || !options.contains(name)) return;
  T read_value{};
  if constexpr (std::is_same_v<T, std::optional<int>>) {
    std::size_t threads = 0;
    read(options[name], threads, at.inside(name));
    read_value = static_cast<int>(std::min<std::size_t>(threads, 1 << 20));
  } else {
    std::string text;
    read(options[name], text, at.inside(name));
    read_value = text;
  }
  options.erase(name);
  if (!said) value = read_value;
}

void take_place(Json& options, RunPlace& place, const JsonAt& at) {
  const bool where_said = !place.out.empty() || !place.name.empty();
  take(options, "out", where_said, place.out, at);
  take(options, "name", where_said, place.name, at);
  take(options, "cache", !place.cache.empty(), place.cache, at);
  take(options, "threads", place.threads.has_value(), place.threads, at);
}

/// Nothing for an unknown name: planning the run refuses it by its option.
std::vector<std::string> start_notes(const ModelConfig& model) {
  try {
    return init_notes(model, option_word);
  } catch (const UsageError&) {
    return {};
  }
}

}  // namespace

std::string option_name(std::string name) {
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

std::string option_word(std::string field) {
  if (field == "folder") return "--out";           // RunRequest
  if (field == "largest_rate") return "--max-lr";  // a question of its own in the library
  const auto is_field = [&](const std::string& name) { return name == field.substr(0, field.find('.')); };
  const std::vector<OptionText> options = option_texts();
  const bool only_in_files =
      std::ranges::any_of(model_fields(), is_field) && std::ranges::none_of(options, is_field, &OptionText::name);
  return only_in_files ? field : option_name(std::move(field));
}

void print_notes(const RunPlace& place, const std::filesystem::path& file, const ModelConfig& model) {
  for (const std::string& note : place.notes) std::cerr << "note: " << file.string() << ": " << note << '\n';
  if (!place.renamed.empty()) std::cerr << "note: " << place.renamed << '\n';
  for (const std::string& note : start_notes(model)) std::cerr << "note: " << note << '\n';
  std::cerr << std::flush;
}

std::filesystem::path default_cache() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value && *value == '/' ? std::filesystem::path(value) : std::filesystem::path();
  };
  std::filesystem::path base = set("XDG_CACHE_HOME");
  if (base.empty() && !set("HOME").empty()) base = set("HOME") / ".cache";
  if (base.empty()) return {};
  const std::filesystem::path cache = base / "addnorm";
  std::error_code failed;
  std::filesystem::create_directories(cache, failed);
  return failed || access(cache.c_str(), W_OK) != 0 ? std::filesystem::path() : cache;
}

struct OptionCollector::Impl {
  Json given = Json::object();
};

std::string start_words(const ModelConfig& model) {
  const StartText start = start_text(model);
  const Arrangement& row = arrangement_of(model);
  std::string words = start.weights_in_words;
  if (!model.init.by_arrangement())  // the rule by the name that was asked for: beside a formula it may come to another's
    words = model.init.rule + words.substr(std::min(words.find(" weights"), words.size()));
  if (!start.embeddings.empty()) words += ", embeddings " + start.embeddings;
  if (!contained_init(row, drawn_stacks(model)).empty()) words += concat(", and what the formula of ", row.name, " contains");
  return words;
}

std::string renamed_init(const std::string& given) {
  const std::string name = canonical_init(given);
  return name.empty() || name == given ? "" : concat("--init ", given, " is ", name);
}

std::string leave_out_deviation(Json& options, const Json& said) {
  const Json* deviation = options.find("init_std");
  const char* const by = said.contains("init") ? "--init" : said.contains("arrangement") ? "--arrangement" : nullptr;
  if (!deviation || deviation->is_null() || said.contains("init_std") || !by) return "";
  const ModelConfig model = run_options_of(options, "options").options.model;
  if (!model.init.by_arrangement() && !find_init_rule(model.init.rule)) return "";  // refused by its name, later
  const InitSpec spec = with_init(arrangement_of(model), {.rule = model.init.rule}).init;
  if (spec.base == InitSpec::Base::normal) return "";
  std::string note = concat("init_std ", deviation->dump(), " is left out: ", spec.name.empty() ? "the start" : spec.name,
                            ", asked for by ", by, ", takes its deviations from the widths of matrices");
  options.erase("init_std");
  return note;
}

OptionCollector::OptionCollector() : impl_(std::make_shared<Impl>()) {}
OptionCollector::~OptionCollector() = default;

void OptionCollector::declare(Command& command) {
  for (const auto& [theirs, ours] : other_option_names()) command.also_named(option_name(theirs), option_name(ours));
  for (const auto& [theirs, instead] : missing_options(option_word)) command.answer(option_name(theirs), instead);
  const std::shared_ptr<Impl> impl = impl_;
  for (const OptionText& option : option_texts(option_word)) {
    const std::string name = option_name(option.name);
    const auto set = [impl, key = option.name](Json value) {
      require(!impl->given.contains(key) || impl->given[key] == value, option_name(key), " and ", option_name("no_" + key),
              " are both given; leave one of them out");
      impl->given[key] = std::move(value);
    };
    if (option.value == OptionText::Value::flag) {
      command.flag(
          name, option.help, [set] { set(true); }, option.group);
    } else if (option.value == OptionText::Value::yes_no) {
      command.flag(
          name, option.help, [set] { set(true); }, option.group);
      command.flag(
          option_name("no_" + option.name), "the opposite", [set] { set(false); }, option.group);
    } else {
      const auto take = [set, impl, key = option.name, kind = option.value](const std::string& text) {
        const Json value = value_of(kind, text);
        if (kind != OptionText::Value::texts || !impl->given.contains(key)) return set(value);
        for (const Json& item : value.array_items()) impl->given[key].push_back(item);
      };
      command.given(name + value_text(option.value), option.help, take, option.group, option.value == OptionText::Value::texts);
    }
  }
}

GivenOptions OptionCollector::given(const std::filesystem::path& file, RunPlace& place) const {
  try {
    Json all = Json::object();
    if (!file.empty()) {
      const std::string where = file.string();
      Json options = options_in(file, place.notes);
      take_place(options, place, JsonAt{where, ""});
      run_options_of(options, where, option_word);  // complaints name the file
      for (const auto& [name, value] : options.items()) all[option_named(name)] = value;
    }
    if (impl_->given.contains("data")) all.erase("task");  // what the file learns from is replaced, one way or the other
    if (impl_->given.contains("task")) all.erase("data");
    for (const auto& [name, value] : impl_->given.items()) {
      run_options_of(Json{{name, value}}, option_name(name));  // complaints name the option
      all[name] = value;
    }
    if (const Json* init = impl_->given.find("init")) place.renamed = renamed_init(init->text());
    if (std::string note = leave_out_deviation(all, impl_->given); !note.empty()) place.notes.push_back(std::move(note));
    return run_options_of(all, file.empty() ? "options" : file.string(), option_word);
  } catch (const DataError& error) {  // how the tool was called, not what it works on
    throw UsageError(error.what());
  }
}

}  // namespace addnorm::cli
