// RunOptions as JSON: one list of names, values and explanations for files, command line and run.json.
#include "addnorm/train/run_options.h"

#include <algorithm>
#include <array>
#include <map>

#include "addnorm/residual/catalogue.h"
#include "core/json/record.h"
#include "train/run/options_json.h"

namespace addnorm {

// Static instead of in a namespace without name, where JsonReader could not find them.

template <class Io>
static void fields(Io& io, RunOptions& o) {
  io("data", o.data, "what to learn from: files, folders, or - for the standard input; none: made up, see {task}");
  io("task", o.task, "made-up data: language (the default); pairs: copy, reverse, sort, add, recall, number-words; mixture");
  io("tokenizer", o.tokenizer, "auto, bytes, chars, or a tokenizer.json, a vocab.json with merges.txt, a folder with either");
  io("label", o.label, "tables: the column that holds the class, by name or number from 1 on (default: the last)");
  io("validation", o.validation, "share of the data that is kept from training and measured, 0 ... 0.9");
  io("truncate", o.truncate, "cut sequences longer than {seq_len} instead of refusing them");
  io("steps", o.steps, "updates (default: 1000 ... 3000, by the data)");
  io("batch_size", o.batch_size, "sequences of an update (default: by the data)");
  io("grad_accum", o.grad_accum, "compute an update in so many parts of {batch_size} sequences each");
  io("lr", o.lr, "highest learning rate (default: 0.001; adafactor 0.01, sgd 0.03)");
  io("min_lr", o.min_lr, "where linear and cosine end (default: a tenth of {lr})");
  io("warmup_steps", o.warmup_steps, "steps in which the rate rises from near 0 (default: a twentieth of {steps}, at most 200)");
  io("schedule", o.schedule, "constant, linear, cosine or inverse-sqrt");
  io("optimizer", o.optimizer.kind, "sgd, adam, adamw, radam or adafactor");
  io("beta1", o.optimizer.beta1, "decay of the first moment");
  io("beta2", o.optimizer.beta2, "decay of the second moment");
  io("eps", o.optimizer.eps, "added to the root of the second moment");
  io("momentum", o.optimizer.momentum, "of sgd");
  io("nesterov", o.optimizer.nesterov, "sgd looks ahead");
  io("weight_decay", o.optimizer.weight_decay,
     "of matrices; norms, biases and gains are left out (default: 0.1; sgd and adam 0)");
  io("decay_all", o.optimizer.decay_all, "weight decay of norms, biases and gains too");
  io("clip_grad_norm", o.clip_grad_norm, "gradients are scaled down to this norm; 0: never");
  io("label_smoothing", o.label_smoothing, "share of a label's weight that is spread over all classes");
  io("seed", o.seed, "of the weights, the order of samples and dropout: same seed, same bits");
  io("recompute", o.recompute, "less memory, a third more time: layers are computed again in backward");
  io("on_nan", o.on_nan, "when a loss or gradient is NaN or infinite: stop, skip the batch, or rollback to the last checkpoint");
  io("spike_guard", o.spike_guard, "skip updates so many deviations above the last 128, e.g. 6; 0: off");
  io("log_every", o.log_every, "steps between lines (default: a fiftieth of {steps})");
  io("eval_every", o.eval_every,
     "steps between measurements of the validation data (default: a tenth of {steps}, but 50 ... 1000)");
  io("eval_samples", o.eval_samples, "sequences of a measurement (default: as many as 32 batches)");
  io("save_every", o.save_every,
     "steps between checkpoints; the last step is always saved (default: a tenth of {steps}, but 50 ... 1000)");
  io("keep", o.keep, "checkpoints that are kept, at least 2");
  io("probes", o.probes, "what is recorded of the residual stream in probes.jsonl: off, on, or full (slow)");
  io("probe_every", o.probe_every, "steps between these records");
}

static const Names& names(ScheduleKind) {
  static const Names all(schedule_names().begin(), schedule_names().end());
  return all;
}
static const Names& names(OptimizerKind) {
  static const Names all(optimizer_names().begin(), optimizer_names().end());
  return all;
}
static const Names& names(ProbeLevel) {
  static const Names all{"off", "on", "full"};
  return all;
}
static const Names& names(OnNan) {
  static const Names all{"stop", "skip", "rollback"};
  return all;
}

namespace {

using Value = OptionText::Value;

/// Those of ModelConfig that have a place on the command line; a file may hold all of them.
std::vector<OptionText> model_texts() {
  return {
      {"model", Value::text, "lm, seq2seq (pairs), classifier, encoder (masked language model) or mlp (default: lm)"},
      {"arrangement", Value::text, "where add and norm stand; 'addnorm arrangements' lists them (default: pre-ln)"},
      {"init", Value::text,
       "how weights start: arrangement (as its source prescribes), xavier, gpt2, bert, pytorch, t5, deepnorm, t-fixup, ...; "
       "'addnorm arrangements --inits' lists them (default: arrangement)"},
      {"init_std", Value::number, "deviation of gpt2 and bert (default: 0.02)"},
      {"embedding_std", Value::number, "deviation of token vectors and learned positions (default: of {init})"},
      {"position_std", Value::number, "deviation of learned positions (default: as {embedding_std})"},
      {"branch_scale", Value::number, "a factor on W_o and W_2 at the start (default: 1)"},
      {"norm", Value::text, "layernorm, rmsnorm, ... (default: layernorm)"},
      {"norm_eps", Value::number, "added to the variance (default: of the norm)"},
      {"final_norm", Value::yes_no, "a norm after the last layer, or none (default: of the arrangement)"},
      {"embedding_norm", Value::yes_no, "a norm of the embeddings, or none (default: of the arrangement)"},
      {"qk_norm", Value::text, "a norm for queries and keys (default: none)"},
      {"layers", Value::whole, "of the only stack, or of the encoder (default: by the data)"},
      {"decoder_layers", Value::whole, "seq2seq (default: as {layers})"},
      {"d_model", Value::whole, "width of the residual stream (default: by the data)"},
      {"heads", Value::whole, "of attention; divides {d_model} (default: by the data)"},
      {"kv_heads", Value::whole, "grouped queries; divides {heads} (default: as {heads})"},
      {"d_ff", Value::whole, "width inside the feed-forward (default: 4 d-model)"},
      {"seq_len", Value::whole, "tokens of a sequence (default: by the data)"},
      {"dropout", Value::number, "of embeddings and branches (default: 0)"},
      {"activation", Value::text, "gelu, relu, swiglu, ... (default: gelu)"},
      {"layer", Value::text, "attention+ffn, attention or ffn (default: attention+ffn)"},
      {"positions", Value::text, "learned, sinusoidal, rotary, ... (default: learned)"},
      {"bias", Value::yes_no, "matrices of the stack have biases, or none (default: they have)"},
      {"tied", Value::yes_no, "the head is the table of tokens, or has its own matrix (default: tied)"},
  };
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Of Hugging Face's trainer, nanoGPT and PyTorch. Those of the model stand with its fields.
const Pairs& other_names() {
  static const Pairs all{{"learning_rate", "lr"},
                         {"max_lr", "lr"},
                         {"max_steps", "steps"},
                         {"max_iters", "steps"},
                         {"num_steps", "steps"},
                         {"per_device_train_batch_size", "batch_size"},
                         {"gradient_accumulation_steps", "grad_accum"},
                         {"warmup", "warmup_steps"},
                         {"warmup_iters", "warmup_steps"},
                         {"lr_schedule", "schedule"},
                         {"lr_scheduler_type", "schedule"},
                         {"optim", "optimizer"},
                         {"adam_beta1", "beta1"},
                         {"adam_beta2", "beta2"},
                         {"adam_epsilon", "eps"},
                         {"wd", "weight_decay"},
                         {"grad_clip", "clip_grad_norm"},
                         {"max_grad_norm", "clip_grad_norm"},
                         {"log_interval", "log_every"},
                         {"logging_steps", "log_every"},
                         {"eval_interval", "eval_every"},
                         {"eval_steps", "eval_every"},
                         {"save_steps", "save_every"},
                         {"save_total_limit", "keep"},
                         {"gradient_checkpointing", "recompute"}};
  return all;
}

/// An option that may be another after a run was resumed.
struct FreeOption {
  std::string_view name;
  void (*take)(const RunOptions& from, RunOptions& to);
};
template <auto Member>
constexpr FreeOption free_option(std::string_view name) {
  return {name, [](const RunOptions& from, RunOptions& to) { to.*Member = from.*Member; }};
}
constexpr std::array kFree{
    free_option<&RunOptions::steps>("steps"),
    free_option<&RunOptions::on_nan>("on_nan"),
    free_option<&RunOptions::spike_guard>("spike_guard"),
    free_option<&RunOptions::log_every>("log_every"),
    free_option<&RunOptions::eval_every>("eval_every"),
    free_option<&RunOptions::eval_samples>("eval_samples"),
    free_option<&RunOptions::save_every>("save_every"),
    free_option<&RunOptions::keep>("keep"),
    free_option<&RunOptions::probes>("probes"),
    free_option<&RunOptions::probe_every>("probe_every"),
};

/// All under our names.
Json in_our_words(const Json& given, const JsonAt& at) {
  Json all = Json::object();
  std::map<std::string, std::string> said;
  for (const auto& [name, value] : given.items()) {
    const std::string ours = option_named(name);
    if (const auto [before, fresh] = said.emplace(ours, name); !fresh)
      at.fail("both ", before->second, " and ", name, " are given; they are the same option");
    all[ours] = ours == "data" && value.is_string() ? Json::array({value}) : value;
  }
  return all;
}

[[noreturn]] void fail_unknown(const std::string& name, const Names& known, const JsonAt& at, const FieldWords& words) {
  for (const auto& [theirs, instead] : missing_options(words))
    if (name == theirs) at.fail("there is no field '", name, "': ", instead);
  const std::string near = nearest_name(name, known);
  at.fail("unknown field '", name, "'", near.empty() ? "" : concat("; did you mean ", near, "?"),
          "\nFields are the options of 'addnorm train --help' with _ for -, e.g. data, model, layers,\n"
          "d_model, heads, seq_len, steps, batch_size, lr, weight_decay, threads, out");
}

/// Notes names, kinds of values and explanations.
struct Lister {
  template <class T>
  void operator()(const char* name, T& value, const char* help) {
    texts.push_back({name, kind(value), help});
    const Json now = written(value);
    const bool says = std::string_view(help).find("default") != std::string_view::npos;
    if (!says && !now.is_null() && !now.is_boolean() && now != 0 && now != "" && !now.is_array())
      texts.back().help += concat(" (default: ", now.is_string() ? now.text() : now.dump(), ")");
  }
  static Value kind(const bool&) { return Value::flag; }
  static Value kind(const std::size_t&) { return Value::whole; }
  static Value kind(const double&) { return Value::number; }
  static Value kind(const std::vector<std::string>&) { return Value::texts; }
  template <class T>
  static Value kind(const std::optional<T>&) {
    return kind(T{});
  }
  template <class T>
  static Value kind(const T&) {
    return Value::text;
  }
  std::vector<OptionText> texts;
};

std::vector<OptionText> run_texts() {
  RunOptions fresh;
  Lister lister;
  fields(lister, fresh);
  return lister.texts;
}

Names run_names() {
  Names all;
  for (const OptionText& text : run_texts()) all.push_back(text.name);
  return all;
}

}  // namespace

std::vector<OptionText> option_texts(const FieldWords& words) {
  std::vector<OptionText> data, updates, output, model = model_texts();
  for (OptionText& option : run_texts()) {
    const bool is_data = updates.empty() && option.name != "steps";  // the list begins with them
    const bool is_output = option.name == "log_every" || !output.empty();
    (is_data ? data : is_output ? output : updates).push_back(std::move(option));
  }
  std::vector<OptionText> all;
  const auto add = [&](std::vector<OptionText>& part, const char* group) {
    for (OptionText& option : part) {
      option.group = group;
      option.help = with_fields_called(option.help, words);
      all.push_back(std::move(option));
    }
  };
  add(data, "Data");
  add(model, "Model");
  add(updates, "Updates");
  add(output, "Output");
  return all;
}

std::string option_named(const std::string& name) {
  for (const auto& [theirs, ours] : other_names())
    if (name == theirs) return ours;
  return std::string(field_named(name));
}

Pairs other_option_names() {
  Pairs all = other_names();
  for (auto& pair : other_names_of_fields()) all.push_back(std::move(pair));
  return all;
}

Pairs missing_options(const FieldWords& words) {
  const std::string epochs = with_fields_called(
      "steps are counted, not epochs: say how many with {steps}.\n"
      "One pass over a text of N tokens is N / ({batch_size} x {seq_len}) of them",
      words);
  const std::string device =
      with_fields_called("training runs on the processor, on as many of its cores as {threads} says", words);
  return {{"epochs", epochs}, {"num_epochs", epochs}, {"num_train_epochs", epochs}, {"device", device}, {"gpu", device}};
}

bool may_change(std::string_view name) { return std::ranges::find(kFree, name, &FreeOption::name) != kFree.end(); }

void take_changes(const GivenOptions& now, RunOptions& options) {
  for (const FreeOption& option : kFree)
    if (now.given.contains(std::string(option.name))) option.take(now.options, options);
}

GivenOptions run_options_from_json(std::string_view text, std::string_view where, const FieldWords& words) {
  return run_options_of(parsed(text, where), where, words);
}

GivenOptions run_options_of(const Json& given, std::string_view where, const FieldWords& words) {
  const JsonAt at{where, ""};
  if (!given.is_object()) at.fail("an object of options is expected, like {\"layers\": 6, \"lr\": 0.001}");
  GivenOptions read_options;
  const Names ours = run_names(), fields_of_model = model_fields();
  Names known = ours;
  known.insert(known.end(), fields_of_model.begin(), fields_of_model.end());
  known.insert(known.end(), {"model_type", "extra"});  // of config.json
  Json run = Json::object(), model = Json::object();
  const Json all = in_our_words(given, at);
  for (const auto& [name, value] : all.items()) {
    if (std::ranges::find(known, name) == known.end()) fail_unknown(name, known, at, words);
    (std::ranges::find(ours, name) != ours.end() ? run : model)[name] = value;
    read_options.given.insert(name);
  }
  ModelConfig& config = read_options.options.model;
  config = model_config_from_json(model.dump(), where);
  if (!config.own_arrangement) config.arrangement = arrangement_named(config.arrangement).name;
  if (std::string name = canonical_init(config.init.rule); !name.empty()) config.init.rule = std::move(name);
  read(run, read_options.options, at);
  read_options.options.words = words;
  return read_options;
}

std::string to_json(const RunOptions& options) { return json_of(options).dump(); }

Json json_of(const RunOptions& options) {
  RunOptions own = options;
  JsonWriter writer;
  fields(writer, own);
  Json all = parsed(to_config_file(options.model), "the model's options");
  all.erase("model_type");
  for (const auto& [name, value] : writer.object.items()) all[name] = value;
  return all;
}

}  // namespace addnorm
