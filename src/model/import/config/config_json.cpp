// ModelConfig as JSON.
#include <array>

#include "addnorm/model/config.h"
#include "addnorm/residual/catalogue.h"
#include "core/file.h"
#include "core/json/record.h"
#include "residual/catalogue/choice_names.h"

namespace addnorm {

// The lists of fields. Static instead of in an anonymous namespace, where JsonReader could not find them.

template <class Io>
static void fields(Io& io, ArrangementChoices& choices) {
  each_choice(choices, io);
}

template <class Io>
static void fields(Io& io, ModelConfig& c) {
  io("model", c.model);
  io("vocab", c.vocab);
  io("target_vocab", c.target_vocab);
  io("features", c.features);
  io("classes", c.classes);
  io("layers", c.layers);
  io("decoder_layers", c.decoder_layers);
  io("d_model", c.d_model);
  io("heads", c.heads);
  io("kv_heads", c.kv_heads);
  io("d_head", c.d_head);
  io("d_ff", c.d_ff);
  io("seq_len", c.seq_len);
  io("arrangement", c.arrangement);
  io("own_arrangement", c.own_arrangement);
  io("choices", c.choices);
  io("init", c.init.rule);
  io("init_std", c.init.deviation);
  io("embedding_std", c.init.embedding_std);
  io("position_std", c.init.position_std);
  io("branch_scale", c.init.branch_scale);
  io("norm", c.norm);
  io("norm_eps", c.norm_eps);
  io("norm_bias", c.norm_bias);
  io("final_norm", c.final_norm);
  io("embedding_norm", c.embedding_norm);
  io("qk_norm", c.qk_norm);
  io("qk_norm_span", c.qk_norm_span);
  io("dropout", c.dropout);
  io("layer", c.layer);
  io("activation", c.activation);
  io("bias", c.bias);
  io("attention_bias", c.attention_bias);
  io("attention_out_bias", c.attention_out_bias);
  io("positions", c.positions);
  io("position_offset", c.position_offset);
  io("rope_base", c.rope_base);
  io("d_embedding", c.d_embedding);
  io("token_types", c.token_types);
  io("scale_embedding", c.scale_embedding);
  io("tied", c.tied);
  io("head_bias", c.head_bias);
  io("head_transform", c.head_transform);
  io("head", c.head);
  io("shared_vocab", c.shared_vocab);
  io("pooling", c.pooling);
}

// The names of enums, in their order.

static const Names& names(ModelKind) {
  static const Names all{"lm", "encoder", "seq2seq", "classifier", "mlp"};
  return all;
}
static const Names& names(LayerKind) {
  static const Names all{"attention+ffn", "attention", "ffn"};
  return all;
}
static const Names& names(Pooling) {
  static const Names all{"first", "mean"};
  return all;
}
static const Names& names(QkNormSpan) {
  static const Names all{"head", "projection"};
  return all;
}
static const Names& names(PositionKind) {
  static const Names all(position_names().begin(), position_names().end());
  return all;
}
static const Names& names(Activation) {
  static const Names all(activation_names().begin(), activation_names().end());
  return all;
}

// Kinds with more names than one.
template <class Kind>
static void read_named(const Json& json, Kind& value, const JsonAt& at, Kind (*named)(std::string_view)) {
  if (!json.is_string()) at.wrong(json, "one of " + listed(names(value)));
  try {
    value = named(json.text());
  } catch (const UsageError& error) {
    at.fail(at.path, ": ", error.what());
  }
}
static void read(const Json& json, PositionKind& value, const JsonAt& at) { read_named(json, value, at, positions_named); }
static void read(const Json& json, Activation& value, const JsonAt& at) { read_named(json, value, at, activation_named); }

// Your own row is an object like that of a file.
static void read(const Json& json, Arrangement& row, const JsonAt& at) {
  row = arrangement_from_json(json.dump(), concat(at.where, ": ", at.path));
}
static Json written(const Arrangement& row) { return parsed(to_json(row), row.name); }

namespace {

// Other names of our fields: those of Hugging Face's config files, of nanoGPT, and common ones.
struct ConfigAlias {
  const char* theirs;
  const char* ours;
};
constexpr std::array kAliases{ConfigAlias{"hidden_size", "d_model"},
                              ConfigAlias{"n_embd", "d_model"},
                              ConfigAlias{"num_hidden_layers", "layers"},
                              ConfigAlias{"n_layer", "layers"},
                              ConfigAlias{"num_attention_heads", "heads"},
                              ConfigAlias{"n_head", "heads"},
                              ConfigAlias{"num_key_value_heads", "kv_heads"},
                              ConfigAlias{"intermediate_size", "d_ff"},
                              ConfigAlias{"vocab_size", "vocab"},
                              ConfigAlias{"max_position_embeddings", "seq_len"},
                              ConfigAlias{"n_positions", "seq_len"},
                              ConfigAlias{"block_size", "seq_len"},
                              ConfigAlias{"layer_norm_eps", "norm_eps"},
                              ConfigAlias{"layer_norm_epsilon", "norm_eps"},
                              ConfigAlias{"tie_word_embeddings", "tied"},
                              ConfigAlias{"num_labels", "classes"},
                              ConfigAlias{"num_layers", "layers"},
                              ConfigAlias{"n_layers", "layers"},
                              ConfigAlias{"num_heads", "heads"},
                              ConfigAlias{"n_heads", "heads"},
                              ConfigAlias{"num_kv_heads", "kv_heads"},
                              ConfigAlias{"embed_dim", "d_model"},
                              ConfigAlias{"ffn_dim", "d_ff"},
                              ConfigAlias{"context_length", "seq_len"},
                              ConfigAlias{"max_seq_len", "seq_len"}};

void translate(Json& object, const JsonAt& at) {
  for (const ConfigAlias& alias : kAliases) {
    const Json* found = object.find(alias.theirs);
    if (!found) continue;
    if (object.contains(alias.ours)) at.fail("both ", alias.theirs, " and ", alias.ours, " are given; they are the same field");
    Json value = *found;
    object.erase(alias.theirs);
    object[alias.ours] = std::move(value);
  }
}

// What a config.json has besides the model: see to_config_file.
constexpr const char* kModelType = "model_type";
constexpr const char* kExtra = "extra";

void take_off_extras(Json& object, const JsonAt& at) {
  if (const Json* type = object.find(kModelType)) {
    if (*type != "addnorm") at.inside(kModelType).wrong(*type, "addnorm; Hugging Face's types are read by hugging_face_config()");
    object.erase(kModelType);
  }
  if (const Json* extra = object.find(kExtra)) {
    if (!extra->is_object()) at.inside(kExtra).wrong(*extra, "an object");
    object.erase(kExtra);
  }
}

}  // namespace

ModelConfig model_config_from_json(std::string_view text, std::string_view where) {
  Json json = parsed(text, where);
  const JsonAt at{where, ""};
  if (!json.is_object()) at.fail("the file holds ", json.type_name(), "; an object with model, layers, ... is needed");
  take_off_extras(json, at);
  translate(json, at);
  ModelConfig config;
  read(json, config, at);
  if (config.own_arrangement) config.arrangement = config.own_arrangement->name;
  return config;
}

ModelConfig read_model_config(const std::filesystem::path& path) {
  return model_config_from_json(small_text(path, "a model's config"), path.string());
}

std::string_view field_named(std::string_view name) {
  for (const ConfigAlias& alias : kAliases)
    if (name == alias.theirs) return alias.ours;
  return name;
}

std::vector<std::string> model_fields() {
  ModelConfig fresh;
  JsonWriter writer;
  fields(writer, fresh);
  Names all;
  for (const JsonField& field : writer.object.items()) all.push_back(field.key);
  return all;
}

std::vector<std::pair<std::string, std::string>> other_names_of_fields() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const ConfigAlias& alias : kAliases) all.emplace_back(alias.theirs, alias.ours);
  return all;
}

std::string to_config_file(const ModelConfig& config, std::string_view extra) {
  ModelConfig own = config;
  JsonWriter writer;
  fields(writer, own);
  Json file{{kModelType, "addnorm"}};
  for (const auto& [name, value] : writer.object.items())  // what was left open stays open
    if (!value.is_null() && value != Json::object()) file[name] = value;
  if (!extra.empty()) {
    file[kExtra] = parsed(extra, "to_config_file: extra");
    require(file[kExtra].is_object(), "to_config_file: extra is ", file[kExtra].type_name(), "; it must be an object");
  }
  return file.dump(2) + "\n";
}

std::string config_file_extra(const std::filesystem::path& path) {
  const Json json = parsed(small_text(path, "a model's config"), path.string());
  return json.is_object() && json.contains(kExtra) ? json.at(kExtra).dump() : "{}";
}

std::string to_json(const ModelConfig& config) { return written(config).dump(2) + "\n"; }

}  // namespace addnorm
